//! The batch sizes of `cost`: how a list of them is read.

use super::super::mistake::hint;

/// The largest batch.
const BATCH_MAX: u32 = 65_536;
/// The most batch sizes in a list.
const BATCHES_MAX: usize = 64;
/// The default batch sizes.
pub(super) const BATCHES: &str = "1,10,100,1000";

/// Batch sizes, ascending, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches(pub Vec<u32>);

/// Reads a list of batch sizes.
///
/// # Errors
/// The error and its remedy, in words for the command line.
pub fn batches(word: &str) -> Result<Batches, String> {
    let help = format!("give sizes from 1 to {BATCH_MAX} with commas between, as in {BATCHES}");
    let mut sizes = Vec::new();
    for part in word.split(',').map(str::trim) {
        match part.parse::<u32>() {
            Ok(size) if (1..=BATCH_MAX).contains(&size) => sizes.push(size),
            Ok(_) => return Err(hint(&format!("there is no batch of {part} requests"), &help)),
            Err(_) if !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()) => {
                return Err(hint(&format!("there is no batch of {part} requests"), &help));
            }
            Err(_) => return Err(hint(&format!("`{part}` is not a batch size"), &help)),
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() > BATCHES_MAX {
        return Err(hint(&format!("{} batch sizes are too many", sizes.len()), &format!("give at most {BATCHES_MAX}")));
    }
    Ok(Batches(sizes))
}
