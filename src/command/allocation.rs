//! An allocation that fails ends the process with exit code 3, after the sentence of the standard library, "memory
//! allocation of N bytes failed": the work was too large for the memory there is, and the scenario has no fault.
//!
//! The standard library then raises SIGABRT, and no stable interface lets a program end otherwise. So SIGABRT ends this
//! process with 3, until a panic is seen: after that, an abort is a fault of this program and stays one. A stack that
//! overflows ends in the same way, with a sentence of its own. On systems without signals (Windows) the sentence is the
//! same, and the exit code is that of an abort.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::output::Exit;

/// Makes a failed allocation end this process with exit code 3.
pub fn exit_on_failed_allocation() {
    let no_panic = Arc::new(AtomicBool::new(true));
    let code = Exit::Inconclusive.code().into();
    let handled =
        signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, code, no_panic.clone());
    if handled.is_ok() {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            no_panic.store(false, Ordering::SeqCst);
            print(panic);
        }));
    }
}
