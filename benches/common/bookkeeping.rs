//! The bookkeeping of one decode batch, as the machine does it and nothing else: the counters and slots of prepare, the
//! host masks, the rows of a result.
//!
//! Owns the fields that a rule reads, an array a field where prepare reads them in one pass. Refuses to keep time.

use overlapsim::model::{HostMasks, RowMasks, RowView, Rule, Strategy, TrackPolicy, WantsMasks};
use overlapsim::record::PreparedRow;

pub struct Rows {
    grid: u32,
    pub views: Vec<RowView>,
    pub seq_lens: Vec<u32>,
    pub decode_batch_idx: Vec<u32>,
    pub labels: Vec<Option<u32>>,
}

impl Rows {
    /// Requests that have their first output, at lengths all over the grid.
    pub fn new(count: usize, grid: u32, lazy: bool) -> Rows {
        let strategy = if lazy { Strategy::ExtraBufferLazy } else { Strategy::ExtraBuffer };
        let view = |i: usize| RowView {
            grid,
            policy: TrackPolicy::new(strategy, true),
            prompt_len: 1 + 37 * i as u32 % grid,
            outputs: 1,
            finished: false,
            kv_committed_len: 1 + 37 * i as u32 % grid,
            decode_batch_idx: 0,
            next_track_idx: 0,
            last_track_idx: u8::from(!lazy),
            held: [true, !lazy],
            untracked_ahead: false,
            masks: None,
        };
        let views: Vec<RowView> = (0..count).map(view).collect();
        let seq_lens = views.iter().map(|view| view.prompt_len).collect();
        Rows { grid, views, seq_lens, decode_batch_idx: vec![0; count], labels: vec![None; count] }
    }

    /// Prepares a decode step but for the masks: counters, the slot of boundaries.
    pub fn advance(&mut self) {
        for ((view, len), idx) in self.views.iter_mut().zip(&mut self.seq_lens).zip(&mut self.decode_batch_idx) {
            *len += 1;
            *idx += 1;
            (view.kv_committed_len, view.decode_batch_idx) = (*len, *idx);
            if view.policy.second_slot_on_demand
                && len.is_multiple_of(self.grid)
                && !view.held[usize::from(1 - view.next_track_idx)]
            {
                view.next_track_idx = 1 - view.next_track_idx;
                view.held[usize::from(view.next_track_idx)] = true;
            }
        }
    }

    /// Builds the masks that the rule wants.
    pub fn mask(&self, wants: WantsMasks, masks: &mut Vec<RowMasks>) {
        let host = HostMasks::new(wants, self.grid, true);
        let rows = self.seq_lens.iter().zip(&self.decode_batch_idx).zip(&self.views);
        masks.clear();
        masks.extend(rows.map(|((&k, &decode_batch_idx), view)| {
            let next_track_idx = Some(view.next_track_idx);
            host.row(&PreparedRow { k, decode_batch_idx, next_track_idx, ..PreparedRow::default() })
        }));
    }

    /// Processes a result: the rule is asked of every row, and what it says is done.
    pub fn process<R: Rule + ?Sized>(&mut self, rule: &R, masks: Option<&[RowMasks]>) {
        for i in 0..self.views.len() {
            let view = &mut self.views[i];
            view.outputs += 1;
            view.masks = masks.map(|masks| masks[i]);
            self.decide(rule, i);
        }
    }

    /// Asks the rule of row `i` and does what it says.
    #[inline]
    pub fn decide<R: Rule + ?Sized>(&mut self, rule: &R, i: usize) {
        let view = &mut self.views[i];
        let action = rule.on_result(view).expect("a rule asserts nothing on a steady batch");
        if let Some((label, idx)) = action.record {
            self.labels[i] = Some(label);
            view.last_track_idx = idx.unwrap_or(view.last_track_idx);
        }
        if let Some(next) = action.next_track_idx {
            view.next_track_idx = next;
        }
        if let Some(idx) = action.release_idx {
            view.held[usize::from(idx)] = false;
        }
    }
}
