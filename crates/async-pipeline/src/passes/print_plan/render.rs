//! The page of a plan.

use super::facts::{Barrier, Channel, Plan, Role, Storage};
use pretty::RcDoc;

/// Columns of a page.
const WIDTH: usize = 100;
/// Lanes of a warp.
const WARP: i64 = 32;

type Doc = RcDoc<'static, ()>;

/// One kernel.
pub(super) fn page(plan: &Plan) -> String {
    let warps: i64 = plan.roles.iter().map(|role| role.warps).sum();
    let head = match warps {
        0 => format!("kernel {} for {}: no roles", plan.kernel, plan.target),
        warps => format!(
            "kernel {} for {}: {}, {} threads",
            plan.kernel,
            plan.target,
            count(warps, "warp"),
            warps * WARP
        ),
    };
    let limit = plan.target.limits();
    let sections = [
        section("roles".into(), table(&plan.roles, role)),
        section("channels".into(), table(&plan.channels, channel)),
        section("barriers".into(), table(&plan.barriers, barrier)),
        section(
            format!(
                "shared memory: {} of {} bytes",
                plan.shared_bytes, limit.max_dynamic_shared_bytes
            ),
            table(&plan.shared, storage),
        ),
        (plan.columns != 0).then(|| {
            words(&format!(
                "tensor memory: {} of {} columns",
                plan.columns, limit.tmem_columns
            ))
        }),
    ];
    let sections = sections.into_iter().flatten();
    let body = RcDoc::concat(sections.map(|section| RcDoc::hardline().append(section)));
    let all = RcDoc::text(head)
        .append(body.nest(2))
        .append(RcDoc::hardline());
    let mut text = String::new();
    // A string takes whatever is written.
    let _ = all.render_fmt(WIDTH, &mut text);
    text
}

fn section(title: String, lines: Vec<Doc>) -> Option<Doc> {
    if lines.is_empty() {
        return None;
    }
    let lines = lines.into_iter().map(|line| RcDoc::hardline().append(line));
    Some(RcDoc::text(title).append(RcDoc::concat(lines).nest(2)))
}

/// Lines whose cells, but the last, have the same width.
fn table<T>(rows: &[T], cells: impl Fn(&T) -> Vec<String>) -> Vec<Doc> {
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let Some((last, cells)) = row.split_last() else {
                return RcDoc::nil();
            };
            let start: String = cells
                .iter()
                .zip(&widths)
                .map(|(cell, width)| {
                    // The line of an arrow goes on to its head.
                    let fill = if cell.starts_with('─') { '─' } else { ' ' };
                    let missing = width - cell.chars().count();
                    let (text, head) = match cell.strip_suffix("► ") {
                        Some(text) => (text, "► "),
                        None => (cell.as_str(), "  "),
                    };
                    let padding: String = std::iter::repeat_n(fill, missing).collect();
                    format!("{text}{padding}{head}")
                })
                .collect();
            if last.is_empty() {
                return RcDoc::text(start.trim_end().to_owned());
            }
            let indent = start.chars().count() as isize;
            RcDoc::text(start).append(words(last).nest(indent))
        })
        .collect()
}

/// Text that may be broken at its blanks.
fn words(text: &str) -> Doc {
    let words = text.split(' ').map(|word| RcDoc::text(word.to_owned()));
    RcDoc::intersperse(words, RcDoc::softline())
}

fn count(number: i64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

fn role(role: &Role) -> Vec<String> {
    let warps = match role.warps {
        1 => format!("warp {}", role.first),
        warps => format!("warps {} to {}", role.first, role.first + warps - 1),
    };
    let mut notes = Vec::new();
    if role.elected {
        notes.push("one elected thread".to_owned());
    }
    if role.sums != 0 {
        notes.push(format!(
            "{} f32 sums in registers of each thread",
            role.sums
        ));
    }
    vec![role.name.clone(), warps, notes.join(", ")]
}

fn channel(channel: &Channel) -> Vec<String> {
    vec![
        channel.from.clone(),
        format!("── {} ─► ", channel.name),
        channel.to.clone(),
        format!(
            "{} of {}, by {}",
            count(channel.stages, "slot"),
            channel.fields.join(" + "),
            channel.completion
        ),
    ]
}

fn barrier(barrier: &Barrier) -> Vec<String> {
    let arrivals = match barrier.arrivals {
        Some(arrivals) => count(arrivals, "arrival"),
        None => "not initialised here".to_owned(),
    };
    let bytes = match barrier.bytes {
        Some(bytes) => format!(" and {bytes} bytes"),
        None => String::new(),
    };
    vec![
        barrier.name.clone(),
        format!("{} x", barrier.stages),
        format!("{arrivals}{bytes} per phase"),
    ]
}

fn storage(storage: &Storage) -> Vec<String> {
    vec![
        format!("{:>7}", storage.offset),
        format!("{:>7} bytes", storage.bytes),
        storage.name.clone(),
        storage.what.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rows: &[Vec<String>]) -> Vec<String> {
        table(rows, Clone::clone)
            .into_iter()
            .map(|line| line.pretty(40).to_string())
            .collect()
    }

    #[test]
    fn arrows_reach_and_columns_line_up() {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let made = lines(&[
            row(["load", "── a ─► ", "product", "x"]),
            row(["product", "── sums ─► ", "epilogue", "y"]),
        ]);
        assert_eq!(made[0], "load     ── a ────► product   x");
        assert_eq!(made[1], "product  ── sums ─► epilogue  y");
    }

    #[test]
    fn long_notes_go_on_below_where_they_began() {
        let row = vec![
            "name".to_owned(),
            "one two three four five six seven eight".to_owned(),
        ];
        assert_eq!(
            lines(&[row])[0],
            "name  one two three four five six seven\n      eight"
        );
    }
}
