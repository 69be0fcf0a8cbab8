//! The shard of a search that this process runs, from the command line or from the cluster that started it. Reads two
//! variables of the environment.

use super::mistake::hint;

/// A part of a search: every `of`-th seed, beginning with number `nth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the shard, from 0.
    pub nth: u64,
    /// The number of shards.
    pub of: u64,
}

impl Shard {
    /// The whole search.
    pub const WHOLE: Shard = Shard { nth: 0, of: 1 };
}

/// The environment variables that may stand for the number of a shard, each with the variable that holds the first
/// number: a Slurm array need not begin at 0.
const VARIABLES: [(&str, Option<&str>); 2] =
    [("JOB_COMPLETION_INDEX", None), ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN"))];

/// Reads `i/n`; i may be the name of an environment variable that the cluster sets.
///
/// # Errors
/// The error and its remedy, in words for the command line.
pub(super) fn shard(word: &str) -> Result<Shard, String> {
    shard_with(word, &|name| std::env::var(name).ok())
}

fn shard_with(word: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
    let form = || hint("not a shard", "give i/n, such as 0/16, JOB_COMPLETION_INDEX/16 or SLURM_ARRAY_TASK_ID/16");
    let number_help = "the cluster sets it; elsewhere give the number, such as 0/16";
    let (nth, of) = word.split_once('/').ok_or_else(form)?;
    let of: u64 = of.parse().ok().filter(|of| *of > 0).ok_or_else(form)?;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let nth = match VARIABLES.iter().find(|(name, _)| *name == nth) {
        None => number(nth).ok_or_else(form)?,
        Some((name, first)) => {
            let value = variable(name).ok_or_else(|| hint(&format!("the variable {name} is not set"), number_help))?;
            let value = number(&value)
                .ok_or_else(|| hint(&format!("the variable {name} is {value:?}, not a number"), number_help))?;
            let first = first.and_then(variable).and_then(|first| number(&first)).unwrap_or(0);
            value.saturating_sub(first)
        }
    };
    if nth < of {
        Ok(Shard { nth, of })
    } else {
        Err(hint(
            &format!("there is no shard {nth} of {of}"),
            &format!("shards count from 0: give 0/{of} to {}/{of}", of - 1),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_said_by_number_or_by_the_cluster() {
        let set = |name: &str| match name {
            "JOB_COMPLETION_INDEX" => Some("3".to_string()),
            "SLURM_ARRAY_TASK_ID" => Some("8".to_string()),
            "SLURM_ARRAY_TASK_MIN" => Some("1".to_string()),
            _ => None,
        };
        let read = |word: &str| shard_with(word, &set);
        assert_eq!(read("2/4"), Ok(Shard { nth: 2, of: 4 }));
        assert_eq!(read("JOB_COMPLETION_INDEX/4"), Ok(Shard { nth: 3, of: 4 }));
        assert_eq!(read("SLURM_ARRAY_TASK_ID/8"), Ok(Shard { nth: 7, of: 8 }));
        for wrong in ["4/4", "x/4", "1/0", "1", "", "-1/4", "JOB_COMPLETION_INDEX/3"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(shard_with("JOB_COMPLETION_INDEX/4", &|_| None).is_err_and(|why| why.contains("not set")));
    }
}
