//! Random setups so small that all their timings can be searched letter by letter, with something open in each.
//!
//! A seed asks for two traits of [`Trait`]; the rest is drawn. So as many seeds as there are pairs ask for every pair.

use overlapsim::engine::Time;
use overlapsim::model::{
    Accept, Arrive, CopyOnWrite, Cost, Costs, Engine, Event, Exhaustion, FinishOrder, Grid, KvEviction, MixedTracking,
    Prompt, Release, RequestSpec, ResultQueue, Setup, SlotFree, SlotHeadroom, Snapshot, Spec, Stop, Strategy,
    TombstoneLock, Vary,
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

/// What a seed can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    NoBuffer,
    OneSlot,
    Lazy,
    Pages,
    ZeroCosts,
    Times,
    Pins,
    Afters,
    Twins,
    NamedTwin,
    Accepts,
    Spec,
    RetractEvents,
    RetractOpen,
    Chunks,
    Mixed,
    AbortEvents,
    AbortsOpen,
    Refusals,
    SnapshotCopy,
    CopyAtOnce,
    FreeDeferred,
    FreeMasked,
    AliasQueue,
    FewSlots,
    LittleKv,
    SharedTokens,
    ArrivalsOpen,
    StopsOpen,
    OrderOpen,
}

use Trait as T;

impl Trait {
    pub const ALL: [Trait; 30] = [
        T::NoBuffer,
        T::OneSlot,
        T::Lazy,
        T::Pages,
        T::ZeroCosts,
        T::Times,
        T::Pins,
        T::Afters,
        T::Twins,
        T::NamedTwin,
        T::Accepts,
        T::Spec,
        T::RetractEvents,
        T::RetractOpen,
        T::Chunks,
        T::Mixed,
        T::AbortEvents,
        T::AbortsOpen,
        T::Refusals,
        T::SnapshotCopy,
        T::CopyAtOnce,
        T::FreeDeferred,
        T::FreeMasked,
        T::AliasQueue,
        T::FewSlots,
        T::LittleKv,
        T::SharedTokens,
        T::ArrivalsOpen,
        T::StopsOpen,
        T::OrderOpen,
    ];
}

/// The number of pairs of traits.
pub const PAIRS: u64 = (Trait::ALL.len() * (Trait::ALL.len() - 1) / 2) as u64;

/// The pair of traits with a number.
fn pair(number: u64) -> [Trait; 2] {
    let all = Trait::ALL;
    let mut pairs = (0..all.len()).flat_map(|a| (a + 1..all.len()).map(move |b| [all[a], all[b]]));
    pairs.nth((number % PAIRS) as usize).expect("a number below PAIRS")
}

/// A draw of one setup.
struct Draw {
    dice: Dice,
    asked: [Trait; 2],
    fresh: u32,
}

/// The setup of a seed and what is open in it, if a scenario file can have it.
pub fn small(seed: u64) -> Option<(Setup, Vary)> {
    let mut draw = Draw { dice: Dice(seed.wrapping_mul(0x1000_0001)), asked: pair(seed), fresh: 1000 };
    let engine = draw.engine();
    let requests = draw.requests(&engine);
    let events = draw.events(engine.strategy, requests.len() as u32);
    let mut setup = Setup {
        costs: Costs::default(),
        names: (0..requests.len()).map(|i| format!("r{i}")).collect(),
        events,
        turns_max: 0,
        engine,
        state: None,
        requests,
    };
    draw.costs(&mut setup.costs);
    if draw.has(T::FewSlots, 3) {
        setup.engine.mamba_slots = setup.engine.track_policy().slots_at_admission() + 1 + draw.dice.below(6);
    }
    if draw.has(T::LittleKv, 3) {
        let most = |spec: &RequestSpec| prompt_len(&spec.prompt) + spec.max_new;
        let longest = setup.requests.iter().map(most).max().expect("there is a request");
        let reserve = setup.engine.spec_reserve();
        setup.engine.kv_tokens = (longest + reserve + draw.dice.below(10)).next_multiple_of(setup.engine.page_size);
    }
    let mut vary = draw.vary(&setup);
    if draw.dice.one_in(8) {
        interrupt(&mut draw.dice, &mut setup);
        vary = Vary { arrivals: true, stops: draw.dice.one_in(2), accept: vary.accept, ..Vary::default() };
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

impl Draw {
    /// Whether the setup gets a trait: if the seed asks for it, or by the dice.
    fn has(&mut self, it: Trait, one_in: u32) -> bool {
        self.dice.one_in(one_in) | self.asked.contains(&it)
    }

    fn asks(&self, some: &[Trait]) -> bool {
        some.iter().any(|it| self.asked.contains(it))
    }

    fn engine(&mut self) -> Engine {
        let mut engine = Engine::preset(self.dice.of(&Release::ALL));
        (engine.strategy, engine.overlap) = self.strategy();
        let dice = &mut self.dice;
        for field in Engine::FIELDS.iter().filter(|field| !["overlap", "mixed_chunk"].contains(&field.name)) {
            if let Some(flag) = (field.switch)(&mut engine) {
                *flag ^= dice.one_in(6);
            }
        }
        if dice.one_in(6) {
            engine.grid = dice.of(&[Grid::Interval, Grid::Lcm]);
            engine.kv_eviction = dice.of(&[KvEviction::Whole, KvEviction::Shortfall]);
            engine.finish_order = dice.of(&[FinishOrder::LengthFirst, FinishOrder::TokenFirst]);
            engine.slot_headroom = dice.of(&[SlotHeadroom::PerRequest, SlotHeadroom::Exact]);
            engine.tombstone_lock = dice.of(&[TombstoneLock::Steal, TombstoneLock::Skip, TombstoneLock::Count]);
        }
        engine.max_running = dice.between(1, 3);
        engine.conservativeness = dice.of(&[1.0, 0.3, 0.0]);
        engine.exhaustion = dice.of(&[Exhaustion::Assert, Exhaustion::Skip]);
        if dice.one_in(8) {
            engine.max_prefill_tokens = dice.between(1, 6);
        }
        self.copies_and_frees(&mut engine);
        self.lengths(&mut engine);
        engine
    }

    fn strategy(&mut self) -> (Strategy, bool) {
        let drawn = self.dice.of(&[
            (Strategy::NoBuffer, false),
            (Strategy::ExtraBuffer, false),
            (Strategy::ExtraBuffer, true),
            (Strategy::ExtraBuffer, true),
            (Strategy::ExtraBufferLazy, true),
            (Strategy::ExtraBufferLazy, true),
        ]);
        match () {
            () if self.asks(&[T::NoBuffer]) => (Strategy::NoBuffer, false),
            () if self.asks(&[T::OneSlot]) => (Strategy::ExtraBuffer, false),
            () if self.asks(&[T::Lazy, T::Refusals]) => (Strategy::ExtraBufferLazy, true),
            () if self.asks(&[T::Spec, T::Accepts, T::Pages]) && !drawn.1 => (Strategy::ExtraBuffer, true),
            () => drawn,
        }
    }

    fn copies_and_frees(&mut self, engine: &mut Engine) {
        if self.has(T::AliasQueue, 8) {
            engine.result_queue = ResultQueue::Alias;
        }
        if self.has(T::FreeDeferred, 6) {
            engine.slot_free = SlotFree::Deferred;
        }
        if self.has(T::FreeMasked, 8) {
            engine.slot_free = SlotFree::Masked;
        }
        if self.has(T::SnapshotCopy, 8) {
            engine.snapshot = Snapshot::Copy;
        }
        if self.has(T::CopyAtOnce, 8) {
            engine.copy_on_write = CopyOnWrite::Immediate;
        }
    }

    /// Pages, grids, chunks, and what a verify accepts.
    fn lengths(&mut self, engine: &mut Engine) {
        let pages = self.has(T::Pages, 4) && engine.strategy != Strategy::NoBuffer;
        engine.page_size = if pages { 2 } else { 1 };
        let spec = engine.overlap && (self.has(T::Spec, 10) || self.asks(&[T::Accepts]));
        if spec {
            engine.page_size = 1;
        }
        let page = engine.page_size;
        engine.track_interval = self.dice.of(&[1, 2, 2, 3, 4]) * page;
        engine.mamba_chunk = self.dice.of(&[1, 2, 4]) * page;
        if self.has(T::Chunks, 6) || self.asks(&[T::Mixed]) {
            engine.chunked_prefill_size = Some(page * self.dice.between(1, 4));
            engine.mixed_chunk = self.has(T::Mixed, 3) && !spec;
            engine.mixed_tracking = self.dice.of(&[MixedTracking::Kept, MixedTracking::Dropped]);
        }
        if spec {
            let draft = self.dice.between(1, 2);
            engine.track_interval = engine.track_interval.max(draft + 1);
            let accept = match self.dice.below(3) {
                0 => Accept::Seeded(500_000),
                _ => Accept::Fixed(vec![self.dice.between(1, draft + 1), 1]),
            };
            engine.spec = Some(Spec { draft, accept });
        }
    }

    fn costs(&mut self, costs: &mut Costs) {
        if self.has(T::ZeroCosts, 10) {
            (costs.ingest, costs.plan) = (Cost::Fixed(0), Cost::Fixed(0));
            if self.dice.one_in(3) {
                costs.each_mut().into_iter().for_each(|cost| *cost = Cost::Fixed(0));
            }
        }
    }

    fn requests(&mut self, engine: &Engine) -> Vec<RequestSpec> {
        let more =
            self.asks(&[T::Pins, T::Afters, T::Twins, T::NamedTwin, T::SharedTokens, T::OrderOpen, T::RetractOpen]);
        let count = if more { self.dice.between(2, 3) } else { self.dice.between(1, 3) };
        // Alike but for their tokens, and sometimes for one thing more: what can change places, and what cannot.
        let alike = self.has(T::Twins, 4) || self.asks(&[T::NamedTwin]);
        let mut requests: Vec<RequestSpec> = Vec::new();
        for nth in 0..count {
            let request = match requests.first().filter(|_| alike) {
                Some(first) => self.twin(first.clone(), engine),
                None => self.request(engine, &requests, nth),
            };
            requests.push(request);
        }
        if self.has(T::NamedTwin, 12) && count > 1 {
            let named = ReqId(self.dice.below(2));
            let mut request = self.request(engine, &requests, count);
            let k = prompt_len(&requests[named.index()].prompt) + self.dice.between(1, 4);
            request.arrive = self.dice.of(&[Arrive::After(named), Arrive::Before(named, k)]);
            if matches!(request.prompt, Prompt::Of { .. }) || self.dice.one_in(3) {
                let fresh = self.take(2);
                request.prompt = Prompt::Of { req: named, keep: None, fresh, len: 1 };
                request.arrive = Arrive::After(named);
            }
            request.max_new = self.dice.between(1, 3);
            request.stop = Stop::Length;
            requests.truncate(2);
            requests.push(request);
        }
        requests
    }

    /// Takes the next fresh tokens, and returns the first of them.
    fn take(&mut self, len: u32) -> u32 {
        self.fresh += len;
        self.fresh - len
    }

    /// A request like another one but for its tokens; one in three differs in one thing more.
    fn twin(&mut self, first: RequestSpec, engine: &Engine) -> RequestSpec {
        let len = prompt_len(&first.prompt);
        let mut twin = RequestSpec { prompt: Prompt::Fresh { fresh: self.take(len), len }, ..first };
        match self.dice.below(18) {
            0 => twin.arrive = Arrive::Turn(2),
            1 => twin.stop = Stop::Token(1),
            2 => twin.max_new += 1,
            3 => twin.prompt = Prompt::Fresh { fresh: self.take(len + 1), len: len + 1 },
            _ => {}
        }
        twin.accept = self.accepts(engine);
        twin
    }

    fn accepts(&mut self, engine: &Engine) -> Vec<u32> {
        match &engine.spec {
            Some(spec) if self.has(T::Accepts, 2) => {
                (0..self.dice.between(1, 2)).map(|_| self.dice.between(1, spec.draft + 1)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn request(&mut self, engine: &Engine, before: &[RequestSpec], nth: u32) -> RequestSpec {
        let other = (nth > 0).then(|| ReqId(self.dice.below(nth)));
        let len = self.dice.between(1, 6);
        let kind = if self.asks(&[T::SharedTokens]) { self.dice.below(4) } else { self.dice.below(7) };
        let prompt = match (kind, other) {
            (0, Some(req)) => Prompt::Of { req, keep: None, fresh: self.take(2), len: self.dice.between(1, 2) },
            (1, Some(req)) => {
                let keep = Some(self.dice.between(1, prompt_len(&before[req.index()].prompt)));
                Prompt::Of { req, keep, fresh: self.take(2), len: self.dice.between(1, 2) }
            }
            (0..=2, _) => Prompt::Tokens((1..=len).collect()),
            (3, _) => {
                let firsts = [1, 101, 201][..len.div_ceil(2) as usize].into();
                Prompt::Blocks { firsts, block_len: 2, len }
            }
            _ => Prompt::Fresh { fresh: self.take(len), len },
        };
        let arrive = self.arrive(before, &prompt, other);
        let max_new = self.dice.between(1, 6);
        let stop = if self.dice.one_in(2) { Stop::Length } else { Stop::Token(self.dice.between(1, max_new)) };
        RequestSpec { arrive, prompt, stop, max_new, accept: self.accepts(engine) }
    }

    fn arrive(&mut self, before: &[RequestSpec], prompt: &Prompt, other: Option<ReqId>) -> Arrive {
        let times = self.has(T::Times, 12);
        if let Prompt::Of { req, keep: None, .. } = prompt {
            return Arrive::After(*req);
        }
        match (self.dice.below(4), other) {
            (kind, Some(req)) if kind == 0 || self.asks(&[T::Afters]) => Arrive::After(req),
            (kind, Some(req)) if kind == 1 || self.asks(&[T::Pins]) => {
                Arrive::Before(req, prompt_len(&before[req.index()].prompt) + self.dice.between(1, 4))
            }
            _ if times => Arrive::At(Time(u64::from(self.dice.below(4)) * 9_000_000)),
            _ => Arrive::Turn(self.dice.of(&[0, 0, 0, 1, 3])),
        }
    }

    fn events(&mut self, strategy: Strategy, count: u32) -> Vec<Event> {
        let mut kinds = Vec::new();
        if self.has(T::RetractEvents, 10) {
            kinds.push(0);
        }
        if self.has(T::AbortEvents, 10) {
            kinds.push(1);
        }
        if strategy == Strategy::ExtraBufferLazy && self.has(T::Refusals, 10) {
            kinds.push(2);
        }
        let mut event = |kind: u32| {
            let (turn, req) = (self.dice.below(10), ReqId(self.dice.below(count)));
            match kind {
                0 => Event::Retract { turn, req },
                1 => Event::Abort { turn, req },
                _ => Event::FailAlloc { turn, req },
            }
        };
        kinds.into_iter().flat_map(|kind| [event(kind), event(kind)]).collect()
    }

    /// One or two questions, of those that such a setup asks, and those that the seed asks for.
    fn vary(&mut self, setup: &Setup) -> Vary {
        let asked = |it| self.asked.contains(&it);
        let mut vary = Vary {
            arrivals: asked(T::ArrivalsOpen),
            stops: asked(T::StopsOpen),
            aborts: asked(T::AbortsOpen),
            retract: asked(T::RetractOpen),
            alloc_failure: asked(T::Refusals) && self.dice.0.is_multiple_of(2),
            // Random runs draw what a search takes to be the script's: every draft token.
            accept: setup.engine.spec.as_ref().is_some_and(|spec| matches!(spec.accept, Accept::Seeded(_))),
            order: asked(T::OrderOpen),
        };
        if vary != Vary::default() && self.dice.one_in(2) {
            return vary;
        }
        for _ in 0..self.dice.between(1, 2) {
            match self.dice.below(9) {
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
}

fn prompt_len(prompt: &Prompt) -> u32 {
    match prompt {
        Prompt::Tokens(tokens) => tokens.len() as u32,
        Prompt::Fresh { len, .. } | Prompt::Blocks { len, .. } => *len,
        Prompt::Of { keep, len, .. } => keep.unwrap_or(8) + len,
    }
}
