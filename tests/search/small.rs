//! Random setups so small that all their timings can be searched letter by letter, with something open in each.

use overlapsim::engine::Time;
use overlapsim::model::{
    Accept, Arrive, CopyOnWrite, Cost, Costs, Engine, Event, Exhaustion, MixedTracking, Prompt, Release, RequestSpec,
    ResultQueue, Setup, SlotFree, Snapshot, Spec, Stop, Strategy, Vary,
};
use overlapsim::record::ReqId;
use overlapsim::scenario;

/// Draws by seed: splitmix64.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % u64::from(end)) as u32
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize].clone()
    }
}

/// The setup of a seed and what is open in it, if a scenario file can have it.
pub fn small(seed: u64) -> Option<(Setup, Vary)> {
    let mut dice = Dice(seed.wrapping_mul(0x1000_0001));
    let engine = engine(&mut dice);
    let requests = requests(&mut dice, &engine);
    let count = requests.len() as u32;
    let mut setup = Setup {
        costs: Costs::default(),
        names: (0..count).map(|i| format!("r{i}")).collect(),
        events: events(&mut dice, engine.strategy, count),
        turns_max: 0,
        engine,
        state: None,
        requests,
    };
    if dice.one_in(10) {
        setup.costs.ingest = Cost::Fixed(0);
        setup.costs.plan = Cost::Fixed(0);
    }
    if dice.one_in(2) {
        setup.engine.mamba_slots = setup.engine.track_policy().slots_at_admission() + 1 + dice.below(6);
    }
    if dice.one_in(2) {
        let most = |spec: &RequestSpec| prompt_len(&spec.prompt) + spec.max_new;
        let longest = setup.requests.iter().map(most).max().expect("there is a request");
        let reserve = setup.engine.spec_reserve();
        setup.engine.kv_tokens = (longest + reserve + dice.below(10)).next_multiple_of(setup.engine.page_size);
    }
    setup.turns_max = scenario::turns_max(&setup.requests, &setup.events);
    let mut vary = vary(&mut dice, &setup);
    if dice.one_in(3) {
        interrupt(&mut dice, &mut setup);
        vary = Vary { arrivals: true, stops: dice.one_in(2), ..Vary::default() };
    }
    setup.turns_max = scenario::turns_max(&setup.requests, &setup.events);
    scenario::as_read(&setup).map(|setup| (setup, vary))
}

/// One long request, and one or two short ones that come in between at some time: when these are over, the machine is where it
/// would be without them, and what was kept on the way need not be.
fn interrupt(dice: &mut Dice, setup: &mut Setup) {
    let count = dice.between(2, 3).min(if setup.engine.spec.is_some() { 2 } else { 3 });
    let mut request = |nth: u32| {
        let (len, max_new) = if nth == 0 { (dice.between(1, 3), dice.between(6, 9)) } else { (1, 1) };
        let prompt = Prompt::Fresh { fresh: 1000 + 100 * nth, len };
        RequestSpec { arrive: Arrive::Turn(0), prompt, stop: Stop::Length, max_new, accept: Vec::new() }
    };
    setup.requests = (0..count).map(&mut request).collect();
    setup.names = (0..count).map(|i| format!("r{i}")).collect();
    setup.events.clear();
    setup.engine.kv_tokens = setup.engine.kv_tokens.max(24);
    setup.engine.max_running = 3;
}

fn engine(dice: &mut Dice) -> Engine {
    let mut engine = Engine::preset(dice.of(&Release::ALL));
    (engine.strategy, engine.overlap) = dice.of(&[
        (Strategy::NoBuffer, false),
        (Strategy::ExtraBuffer, false),
        (Strategy::ExtraBuffer, true),
        (Strategy::ExtraBuffer, true),
        (Strategy::ExtraBufferLazy, true),
        (Strategy::ExtraBufferLazy, true),
    ]);
    engine.page_size = if engine.strategy == Strategy::NoBuffer { 1 } else { dice.of(&[1, 1, 2]) };
    let page = engine.page_size;
    engine.track_interval = dice.of(&[1, 2, 2, 3, 4]) * page;
    engine.mamba_chunk = dice.of(&[1, 2, 4]) * page;
    engine.max_running = dice.between(1, 3);
    engine.conservativeness = dice.of(&[1.0, 0.3, 0.0]);
    engine.exhaustion = dice.of(&[Exhaustion::Assert, Exhaustion::Skip]);
    let mut turn = |flag: &mut bool| *flag ^= dice.one_in(5);
    turn(&mut engine.skip_finishing_decode);
    turn(&mut engine.filter_before_prefill);
    turn(&mut engine.lazy_prealloc_evicts);
    turn(&mut engine.refused_prealloc_clears_label);
    turn(&mut engine.disable_consecutive_prefill_overlap);
    turn(&mut engine.previous_checkpoint);
    turn(&mut engine.caches_through_stop);
    if dice.one_in(5) {
        engine.result_queue = ResultQueue::Alias;
    }
    if dice.one_in(3) {
        engine.slot_free = dice.of(&[SlotFree::Deferred, SlotFree::Masked]);
    }
    if dice.one_in(6) {
        engine.snapshot = Snapshot::Copy;
    }
    if dice.one_in(6) {
        engine.copy_on_write = CopyOnWrite::Immediate;
    }
    if dice.one_in(4) {
        engine.chunked_prefill_size = Some(page * dice.between(1, 4));
        engine.mixed_chunk = dice.one_in(2);
        engine.mixed_tracking = dice.of(&[MixedTracking::Kept, MixedTracking::Dropped]);
    }
    if engine.overlap && dice.one_in(6) {
        let draft = dice.between(1, 2);
        (engine.page_size, engine.mixed_chunk) = (1, false);
        engine.track_interval = engine.track_interval.max(draft + 1);
        engine.spec = Some(Spec { draft, accept: Accept::Fixed(vec![dice.between(1, draft + 1), 1]) });
    }
    engine
}

fn requests(dice: &mut Dice, engine: &Engine) -> Vec<RequestSpec> {
    let mut fresh = 1000;
    let count = dice.between(1, 3);
    // Alike but for their tokens: what can change places.
    let alike = dice.one_in(3);
    let timed = dice.one_in(8);
    let mut requests: Vec<RequestSpec> = Vec::new();
    for nth in 0..count {
        let mut take = |len| {
            fresh += len;
            fresh - len
        };
        if let Some(first) = requests.first().filter(|_| alike) {
            let len = prompt_len(&first.prompt);
            let prompt = Prompt::Fresh { fresh: take(len), len };
            requests.push(RequestSpec { prompt, ..first.clone() });
            continue;
        }
        let before = (nth > 0).then(|| ReqId(dice.below(nth)));
        let len = dice.between(1, 6);
        let prompt = match (dice.below(4), before) {
            (0, Some(req)) => Prompt::Of { req, keep: None, fresh: take(2), len: dice.between(1, 2) },
            (1, Some(req)) => {
                let keep = Some(dice.between(1, prompt_len(&requests[req.index()].prompt)));
                Prompt::Of { req, keep, fresh: take(2), len: dice.between(1, 2) }
            }
            (2, _) => Prompt::Tokens((1..=len).collect()),
            _ => Prompt::Fresh { fresh: take(len), len },
        };
        let reaches_outputs = matches!(prompt, Prompt::Of { keep: None, .. });
        let arrive = match (dice.below(4), before) {
            (_, Some(_)) if reaches_outputs => match prompt {
                Prompt::Of { req, .. } => Arrive::After(req),
                _ => unreachable!(),
            },
            (0, Some(req)) => Arrive::After(req),
            (1, Some(req)) => Arrive::Before(req, prompt_len(&requests[req.index()].prompt) + dice.between(1, 4)),
            (2, _) if timed => Arrive::At(Time(u64::from(dice.below(4)) * 9_000_000)),
            _ => Arrive::Turn(dice.of(&[0, 0, 1, 3])),
        };
        let max_new = dice.between(1, 6);
        let stop = if dice.one_in(2) { Stop::Length } else { Stop::Token(dice.between(1, max_new)) };
        let accept = match &engine.spec {
            Some(spec) if dice.one_in(2) => vec![dice.between(1, spec.draft + 1)],
            _ => Vec::new(),
        };
        requests.push(RequestSpec { arrive, prompt, stop, max_new, accept });
    }
    requests
}

fn prompt_len(prompt: &Prompt) -> u32 {
    match prompt {
        Prompt::Tokens(tokens) => tokens.len() as u32,
        Prompt::Fresh { len, .. } | Prompt::Blocks { len, .. } => *len,
        Prompt::Of { keep, len, .. } => keep.unwrap_or(8) + len,
    }
}

fn events(dice: &mut Dice, strategy: Strategy, count: u32) -> Vec<Event> {
    let some = if dice.one_in(4) { dice.between(1, 2) } else { 0 };
    let mut event = |_| {
        let (turn, req) = (dice.below(10), ReqId(dice.below(count)));
        match dice.below(3) {
            0 if strategy == Strategy::ExtraBufferLazy => Event::FailAlloc { turn, req },
            1 => Event::Abort { turn, req },
            _ => Event::Retract { turn, req },
        }
    };
    (0..some).map(&mut event).collect()
}

/// One or two questions, of those that such a setup asks.
fn vary(dice: &mut Dice, setup: &Setup) -> Vary {
    let mut vary = Vary::default();
    for _ in 0..dice.between(1, 2) {
        match dice.below(9) {
            0 | 1 => vary.arrivals = true,
            2..=4 => vary.stops = true,
            5 => vary.aborts = true,
            6 => vary.retract = true,
            7 if setup.engine.spec.is_some() => vary.accept = true,
            7 => vary.order = true,
            _ if setup.engine.strategy == Strategy::ExtraBufferLazy => vary.alloc_failure = true,
            _ => vary.stops = true,
        }
    }
    vary
}
