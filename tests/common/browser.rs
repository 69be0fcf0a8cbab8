//! A real browser without a window, driven by the DevTools protocol over a pipe: messages are JSON that end with a zero byte.
//!
//! Owns the process and its profile directory. Waits have a limit: a browser that sends no answer within a minute is a failure, and so
//! is a condition that does not become true.
#![allow(dead_code, reason = "tests and the example each use some of it")]

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Names under which the browser is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The longest wait for an answer or a condition.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    profile: PathBuf,
    session: String,
    last_id: u64,
    /// Size and media of the window, as conditions that hold on a page once it has applied them.
    looks: [Option<String>; 2],
    /// Events that the page sent by itself.
    events: Vec<Value>,
}

impl Browser {
    /// Starts the browser, if this machine has one; its profile goes to a new directory in `work`.
    pub fn start(work: &Path, name: &str) -> Option<Browser> {
        let found = |name: &&str| {
            let paths = ["/usr/bin", "/usr/local/bin", "/bin", "/snap/bin"];
            paths.iter().any(|path| Path::new(path).join(name).exists())
        };
        let program = NAMES.into_iter().find(found)?;
        let profile = work.join(format!("browser-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&profile).expect("a directory for the profile");
        let line = format!(
            "exec {program} --headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
             --disable-background-networking --force-color-profile=srgb --remote-debugging-pipe \
             --user-data-dir=\"$0\" about:blank 3<&0 4>&1"
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            .arg(&profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("a pipe");
        let mut out = child.stdout.take().expect("a pipe");
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            let mut rest = Vec::new();
            while let Ok(size) = out.read(&mut buffer) {
                if size == 0 {
                    return;
                }
                rest.extend_from_slice(&buffer[..size]);
                while let Some(end) = rest.iter().position(|&byte| byte == 0) {
                    let message: Vec<u8> = rest.drain(..=end).collect();
                    let value = serde_json::from_slice(&message[..end]).expect("a message is JSON");
                    if send.send(value).is_err() {
                        return;
                    }
                }
            }
        });
        let (session, looks, events) = Default::default();
        let mut browser = Browser { child, to, from, profile, session, last_id: 0, looks, events };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"].as_array().expect("targets").iter().find(|target| target["type"] == "page");
        let id = page.expect("a page")["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": id, "flatten": true}));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.call("Page.setLifecycleEventsEnabled", json!({"enabled": true}));
        Some(browser)
    }

    /// Calls a method of the protocol and waits for its answer.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        self.to.flush().expect("the browser listens");
        loop {
            let mut answer = self.next(method);
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    fn next(&mut self, waiting_for: &str) -> Value {
        self.from.recv_timeout(TIMEOUT).unwrap_or_else(|why| panic!("no answer to {waiting_for}: {why}"))
    }

    /// Loads a file and waits until it has been read and run.
    pub fn open(&mut self, path: &Path) {
        let url = format!("file://{}", path.display());
        let loader = self.call("Page.navigate", json!({"url": url}))["loaderId"].take();
        // Only the event of this document counts: that of the previous page can arrive late.
        let loaded = |event: &Value| {
            let of = &event["params"];
            event["method"] == "Page.lifecycleEvent" && of["name"] == "load" && of["loaderId"] == loader
        };
        while !self.events.iter().any(loaded) {
            let event = self.next("loading");
            self.events.push(event);
        }
        self.look();
    }

    /// Waits until an expression has this value.
    pub fn until(&mut self, expression: &str, wanted: &Value) {
        let started = Instant::now();
        loop {
            let value = self.eval(expression);
            if value == *wanted {
                return;
            }
            assert!(started.elapsed() < TIMEOUT, "{expression} is {value}, not {wanted}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the page has applied size and media and has been drawn: the browser answers before that.
    fn look(&mut self) {
        for condition in self.looks.clone().into_iter().flatten() {
            self.until(&condition, &json!(true));
        }
        self.settle();
        self.settle();
    }

    /// Waits until a frame has been drawn.
    pub fn settle(&mut self) {
        self.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))");
    }

    /// The value of an expression on the page.
    pub fn eval(&mut self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", ask);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// How many elements a selector finds.
    pub fn count(&mut self, selector: &str) -> u64 {
        self.eval(&format!("document.querySelectorAll({selector:?}).length")).as_u64().expect("a count")
    }

    /// The text of an element.
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.eval(&format!("document.querySelector({selector:?})?.textContent ?? ''"));
        text.as_str().expect("a text").to_owned()
    }

    /// The middle of an element, scrolled into view.
    pub fn middle(&mut self, selector: &str) -> (f64, f64) {
        let of = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); \
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        ));
        (of[0].as_f64().expect("x"), of[1].as_f64().expect("y"))
    }

    /// Moves the mouse, presses or releases it.
    pub fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let (button, buttons, clicks) = if kind == "mouseMoved" { ("none", 0, 0) } else { ("left", 1, 1) };
        let event = json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks});
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Clicks on an element.
    pub fn click(&mut self, selector: &str) {
        let at = self.middle(selector);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, at);
        }
        self.settle();
    }

    /// Turns the wheel.
    pub fn wheel(&mut self, (x, y): (f64, f64), delta_y: f64) {
        let event = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": delta_y});
        self.call("Input.dispatchMouseEvent", event);
        self.settle();
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key, "text": text}));
        }
        self.settle();
    }

    /// Sets the size of the window.
    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.looks[0] = Some(format!("innerWidth === {width} && innerHeight === {height}"));
        self.look();
    }

    /// Sets the colour scheme that the system prefers, and the medium (`print`, or nothing for the screen).
    pub fn media(&mut self, scheme: &str, medium: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": medium, "features": features}));
        let medium = if medium.is_empty() { "screen" } else { medium };
        self.looks[1] = Some(format!("matchMedia('{medium} and (prefers-color-scheme: {scheme})').matches"));
        self.look();
    }

    /// Keeps a picture of the whole page.
    pub fn screenshot(&mut self, path: &Path) {
        let picture = self.call("Page.captureScreenshot", json!({"format": "png", "captureBeyondViewport": true}));
        let bytes = base64(picture["data"].as_str().expect("a picture"));
        std::fs::write(path, bytes).expect("a picture can be written");
    }

    /// Errors on the console, exceptions and refused requests since the start.
    pub fn troubles(&self) -> Vec<String> {
        let trouble = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => true,
            Some("Runtime.consoleAPICalled") => {
                ["error", "warning", "assert"].map(Value::from).contains(&event["params"]["type"])
            }
            _ => false,
        };
        self.events.iter().filter(trouble).map(|event| event["params"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.to.flush();
        for _ in 0..50 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// The bytes of base64 text.
pub fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte)).collect();
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    for four in digits.chunks(4) {
        let bits = four.iter().fold(0, |bits, &digit| bits << 6 | value(digit)) << (6 * (4 - four.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    out
}
