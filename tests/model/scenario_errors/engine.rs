//! Values of the engine and of costs that are out of range or contradict each other.

use super::{fields, wrong};

#[test]
fn values_of_the_engine_out_of_range_are_refused() {
    wrong(&fields("engine: (track_interval: §0),"), "`track_interval` is 0", "at least 1");
    wrong(&fields("engine: (page_size: §0),"), "`page_size` is 0", "at least 1");
    wrong(&fields("engine: (mamba_slots: §0),"), "`mamba_slots` is 0", "at least 1");
    wrong(&fields("engine: (kv_tokens: §4000000000),"), "more than the simulator holds", "at most");
    wrong(
        &fields("engine: (track_interval: §6, page_size: 4),"),
        "off the page grid",
        "`track_interval: 4` or `track_interval: 8`",
    );
    wrong(
        &fields("engine: (page_size: §3, kv_tokens: 300),"),
        "off the page grid",
        "`track_interval: 255` or `track_interval: 258`",
    );
    wrong(
        &fields("engine: (page_size: 64, kv_tokens: §1000),"),
        "whole number of pages",
        "`kv_tokens: 960` or `kv_tokens: 1024`",
    );
    wrong(
        &fields("engine: (mamba_chunk: §65537, page_size: 65536, track_interval: 65536),"),
        "common multiple",
        "powers of two",
    );
    wrong(
        &fields("engine: (release: V0_5_23, mamba_chunk: §65537, track_interval: 65536),"),
        "common multiple",
        "powers",
    );
    wrong(&fields("engine: (strategy: §NoBuffer),"), "overlap on", "`overlap: false`");
    wrong(&fields("engine: (strategy: NoBuffer, overlap: §true),"), "overlap on", "`overlap: false`");
    wrong(&fields("engine: (strategy: NoBuffer, overlap: false, page_size: §2),"), "page of 2", "`page_size: 1`");
    wrong(&fields("engine: (strategy: ExtraBufferLazy, overlap: §false),"), "overlap off", "`overlap: true`");
    wrong(
        &fields("engine: (strategy: ExtraBufferLazy, overlap: §false),"),
        "overlap off",
        "0.5.18 and 0.5.23 accept the pair",
    );
    wrong(&fields("engine: (mamba_slots: §2),"), "too few for one request", "at least 4");
    wrong(&fields("engine: (strategy: ExtraBufferLazy, mamba_slots: §1),"), "too few for one request", "at least 3");
    wrong(&fields("engine: (mixed_chunk: §true),"), "ride along only", "set `chunked_prefill_size` too");
    wrong(&fields("engine: (chunked_prefill_size: §0),"), "a chunk of 0 tokens", "from 1 to");
    wrong(&fields("engine: (page_size: 4, chunked_prefill_size: §3),"), "less than a page of 4", "from 4 to");
    wrong(
        &fields("engine: (page_size: 4, chunked_prefill_size: §6),"),
        "within a page of 4",
        "multiple of `page_size`, such as 4",
    );
    wrong(&fields("engine: (conservativeness: §-1.0),"), "conservativeness", "1.0");
    wrong(&fields("engine: (conservativeness: §inf),"), "conservativeness", "1.0");
    wrong(&fields("engine: (conservativeness: §NaN),"), "conservativeness", "1.0");
    wrong(&fields("costs: (\n  plan: Fixed(5),\n  launch: §Uniform(7, 6)),"), "7 is above 6", "Uniform(6, 7)");
    wrong(
        &fields("costs: (plan: Fixed(5), cpu: §\"pyton-0.5.17\"),"),
        "there is no CPU preset \"pyton-0.5.17\"",
        "did you mean `python-0.5.17`? the CPU presets are: `python-0.5.17`, `python-0.5.16`",
    );
    wrong(&fields("costs: (gpu: §\"python-0.5.17\"),"), "no GPU preset", "the GPU presets are: `h100x8-80b-a3b`");
    wrong(&fields("costs: (cpu: §python),"), "not", "");
    wrong(&fields("costs: (launch: §Fixed(99999999999)),"), "more than a cost may be", "nanoseconds");
    wrong(&fields("turns_max: §0,"), "`turns_max` is 0", "at least 1");
}
