//! The terminal: raw mode, keys in, frames out. Restores the terminal at every end: a key, a signal or a panic.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::app::{App, Effect};
use super::keys::Key;
use super::screen::draw;

/// The signals that end the explorer.
#[cfg(unix)]
const ENDS: [i32; 3] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const ENDS: [i32; 2] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// How long to wait for a key before checking for a signal to end.
const WAIT: Duration = Duration::from_millis(200);

/// An error of the terminal.
#[derive(Debug, thiserror::Error)]
#[error("the terminal does not answer: {0}")]
pub struct TerminalError(#[from] io::Error);

/// Shows the explorer until the user quits. `serve` carries out effects. Restores the terminal, also after a panic,
/// Ctrl-C, or a signal to end.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn show<'a>(app: &mut App<'a>, serve: &mut dyn FnMut(&mut App<'a>, Effect)) -> Result<(), TerminalError> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in ENDS {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    // Its panic hook restores the terminal before the panic message.
    let mut terminal = ratatui::try_init()?;
    let shown = keys(app, serve, &mut terminal, &ended);
    ratatui::try_restore()?;
    Ok(shown?)
}

fn keys<'a>(
    app: &mut App<'a>,
    serve: &mut dyn FnMut(&mut App<'a>, Effect),
    terminal: &mut ratatui::DefaultTerminal,
    ended: &AtomicBool,
) -> io::Result<()> {
    let size = terminal.size()?;
    app.resize(size.width, size.height);
    terminal.draw(|frame| draw(app, frame))?;
    loop {
        if ended.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !event::poll(WAIT)? {
            continue;
        }
        let effect = match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
                    return Ok(());
                }
                key_of(key).map_or(Effect::None, |key| app.update(key))
            }
            Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) | Event::Paste(_) => continue,
            Event::Resize(width, height) => {
                app.resize(width, height);
                Effect::None
            }
        };
        match effect {
            Effect::Quit => return Ok(()),
            Effect::None => {}
            effect @ (Effect::Save | Effect::Replay) => serve(app, effect),
        }
        terminal.draw(|frame| draw(app, frame))?;
    }
}

/// The key of the explorer for a key of the terminal, if it has one.
fn key_of(key: KeyEvent) -> Option<Key> {
    Some(match key.code {
        KeyCode::Char(c) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => Key::Char(c),
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Tab => Key::Tab,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        _ => return None,
    })
}
