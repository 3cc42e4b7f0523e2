//! A progress bar for runs that take long, and their time limit.

use std::{
    io::{IsTerminal, stderr},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use ptx_emulator::Monitor;

/// Runs shorter than this show no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the bar moves and the time limit is looked at.
const TICK: Duration = Duration::from_millis(100);

/// Calls `work`, and meanwhile shows on standard error how many of the `clusters` have started, if
/// that is a terminal. After `timeout` the run behind `monitor` is told to stop.
pub fn watched<T>(
    name: &str,
    clusters: u64,
    monitor: &Arc<Monitor>,
    timeout: Option<Duration>,
    work: impl FnOnce() -> T,
) -> T {
    let shown = stderr().is_terminal();
    if !shown && timeout.is_none() {
        return work();
    }
    thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        scope.spawn(move || {
            let start = Instant::now();
            let mut bar = None;
            // Ends when `done` is dropped, also by a panic of `work`.
            while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let waited = start.elapsed();
                if timeout.is_some_and(|timeout| waited > timeout) {
                    monitor.stop();
                }
                if shown && waited > PATIENCE {
                    let bar = bar.get_or_insert_with(|| new_bar(name, clusters));
                    bar.set_position(monitor.clusters());
                    let millions = monitor.steps() as f64 / 1e6;
                    bar.set_message(format!("{millions:.1} M warp-instructions"));
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

fn new_bar(name: &str, clusters: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} blocks started, {msg}");
    let bar = ProgressBar::new(clusters);
    bar.set_prefix(name.to_owned());
    match style {
        Ok(style) => bar.with_style(style),
        // The template is a constant; without it the bar has its default looks.
        Err(_) => bar,
    }
}
