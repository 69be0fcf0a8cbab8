//! Cost presets by name: data files that come with the program, each with the source of its numbers (`docs/costs.md`).

use std::fmt;

use ron::extensions::Extensions;
use serde::Deserialize;

use super::raw::RawCosts;
use crate::model::Costs;
use crate::workload::DecodeTable;

/// What a preset is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSide {
    /// The work of the scheduler.
    Cpu,
    /// Forwards, and the copies of their results.
    Gpu,
}

/// A preset as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Preset")]
struct PresetFile {
    decode: Option<Vec<(u32, u64)>>,
    costs: RawCosts,
}

/// The names of presets, what each is, and their files.
const CPU: [(&str, &str, &str); 3] = [
    (
        "python-0.5.17",
        "sglang 0.5.17, measured in its Python code at 1000 requests",
        include_str!("presets/python-0.5.17.ron"),
    ),
    (
        "python-0.5.16",
        "sglang 0.5.16, measured in its Python code at 1000 requests",
        include_str!("presets/python-0.5.16.ron"),
    ),
    ("claim-33477", "the CPU step that pull request 33477 claims", include_str!("presets/claim-33477.ron")),
];
const GPU: [(&str, &str, &str); 1] = [(
    "h100x8-80b-a3b",
    "a hybrid 80B-A3B model on eight H100, by a roofline",
    include_str!("presets/h100x8-80b-a3b.ron"),
)];

impl CostSide {
    fn files(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            CostSide::Cpu => &CPU,
            CostSide::Gpu => &GPU,
        }
    }
}

impl fmt::Display for CostSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CostSide::Cpu => "CPU",
            CostSide::Gpu => "GPU",
        })
    }
}

/// The names of all presets of one side.
pub fn cost_preset_names(of: CostSide) -> Vec<&'static str> {
    of.files().iter().map(|file| file.0).collect()
}

/// The names of all presets of one side, each with a line on what it is.
pub fn cost_preset_summaries(of: CostSide) -> Vec<(&'static str, &'static str)> {
    of.files().iter().map(|&(name, summary, _)| (name, summary)).collect()
}

/// A preset: some of the costs, and for the GPU how long a decode forward takes by its rows.
#[derive(Debug)]
pub struct CostPreset {
    /// Its name.
    pub name: &'static str,
    /// Decode forwards by rows, in place of `gpu_decode` and `gpu_decode_request`, where the number of rows is known.
    pub decode: Option<DecodeTable>,
    costs: RawCosts,
}

/// The preset of a name.
pub fn cost_preset(of: CostSide, name: &str) -> Option<CostPreset> {
    let &(name, _, text) = of.files().iter().find(|file| file.0 == name)?;
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    let file: PresetFile = options.from_str(text).unwrap_or_else(|error| panic!("the preset {name}: {error}"));
    Some(CostPreset { name, decode: file.decode.map(DecodeTable::new), costs: file.costs })
}

impl CostPreset {
    /// Sets the costs that the preset has.
    pub fn apply(&self, costs: &mut Costs) {
        for (cost, given) in costs.each_mut().into_iter().zip(self.costs.given()) {
            *cost = given.unwrap_or(*cost);
        }
    }

    /// Whether `costs` are those of the preset as to decode forwards.
    pub fn decodes_as(&self, costs: &Costs) -> bool {
        let mut own = costs.clone();
        self.apply(&mut own);
        (own.gpu_decode, own.gpu_decode_request) == (costs.gpu_decode, costs.gpu_decode_request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cost;

    fn all(of: CostSide) -> Vec<CostPreset> {
        let names = cost_preset_names(of);
        names.into_iter().map(|name| cost_preset(of, name).expect("a preset by its name")).collect()
    }

    #[test]
    fn a_preset_has_all_costs_of_its_side_and_no_other() {
        let gpu = ["gpu_extend", "gpu_extend_token", "gpu_decode", "gpu_decode_request", "result_copy"];
        for (of, side) in [(CostSide::Cpu, false), (CostSide::Gpu, true)] {
            for preset in all(of) {
                for (name, given) in Costs::NAMES.into_iter().zip(preset.costs.given()) {
                    assert_eq!(given.is_some(), gpu.contains(&name) == side, "{}: {name}", preset.name);
                }
                assert_eq!(preset.decode.is_some(), side, "{}", preset.name);
            }
        }
    }

    /// What 1000 requests cost in the result of a decode step, and in a whole CPU step.
    fn at_1000(name: &str, mask: bool) -> (u64, u64) {
        let mut costs = Costs::default();
        cost_preset(CostSide::Cpu, name).expect("a preset").apply(&mut costs);
        let ns = |cost: Cost| match cost {
            Cost::Fixed(ns) => ns,
            Cost::Uniform(..) => panic!("presets are exact"),
        };
        let check = if mask { costs.check_mask } else { costs.check_recompute };
        let result = ns(costs.result) + 1000 * (ns(costs.result_request) + ns(check));
        let before = ns(costs.ingest) + ns(costs.plan) + ns(costs.launch);
        (result, result + before + ns(costs.prepare) + 1000 * ns(costs.prepare_request))
    }

    #[test]
    fn at_1000_requests_result_processing_takes_what_was_measured() {
        let result = |name, mask| at_1000(name, mask).0;
        assert_eq!([false, true].map(|mask| result("python-0.5.17", mask)), [3_390_000, 2_570_000]);
        assert_eq!([false, true].map(|mask| result("python-0.5.16", mask)), [2_840_000, 2_280_000]);
    }

    #[test]
    fn at_1000_requests_the_claimed_step_is_18_percent_shorter() {
        let step = |mask| at_1000("claim-33477", mask).1;
        assert_eq!([false, true].map(step), [1_944_000, 1_594_000]);
        assert_eq!((step(false) - step(true)) * 100 / step(false), 18);
    }

    #[test]
    fn the_straight_line_meets_the_table_at_1_and_64() {
        let preset = cost_preset(CostSide::Gpu, "h100x8-80b-a3b").expect("a preset");
        let table = preset.decode.as_ref().expect("a table");
        let mut costs = Costs::default();
        preset.apply(&mut costs);
        let (Cost::Fixed(forward), Cost::Fixed(row)) = (costs.gpu_decode, costs.gpu_decode_request) else { panic!() };
        assert_eq!(forward + row, table.at(1));
        assert!((forward + 64 * row).abs_diff(table.at(64)) < 64);
        assert!(preset.decodes_as(&costs) && !preset.decodes_as(&Costs::default()));
    }

    #[test]
    fn the_table_is_the_formula_of_its_file() {
        let table = cost_preset(CostSide::Gpu, "h100x8-80b-a3b").and_then(|preset| preset.decode).expect("a table");
        let linear = 36.0 * (2048.0 * (12288.0 + 64.0) + 8192.0 * 4.0 + 4096.0 * 2048.0);
        let attention = 12.0 * 2048.0 * (8192.0 + 1024.0 + 4096.0);
        let others = 48.0 * 2048.0 * (512.0 + 3.0 * 512.0) + 151_936.0 * 2048.0;
        let expert = 48.0 * 3.0 * 2048.0 * 512.0 * 2.0;
        let request =
            2.0 * 36.0 * (32.0 * 128.0 * 128.0 * 4.0 + 8192.0 * 3.0 * 2.0) + 12.0 * 2.0 * 2.0 * 256.0 * 2.0 * 1024.0;
        for rows in table.knees() {
            let touched = 512.0 * (1.0 - (502.0_f64 / 512.0).powi(rows as i32));
            let bytes = 2.0 * (linear + attention + others) + touched * expert + f64::from(rows) * request;
            let ns = 2.1e6 + bytes / 26.8e12 * 1e9;
            assert!((ns - table.at(rows) as f64).abs() < 1.0, "{rows}: {ns}");
        }
    }
}
