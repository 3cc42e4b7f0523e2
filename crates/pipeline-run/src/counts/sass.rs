//! The same for SASS as `nvdisasm` prints it.
//!
//! Correspondences between the two were read off from code of sm_80, sm_90a and sm_100a. On sm_80
//! a wait is an ordinary load of the barrier with a comparison, so its waits cannot be counted.

use std::collections::BTreeMap;

use super::{Event, Function, Instruction};

/// The functions in order.
pub(super) fn parse(text: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    let mut branches: Vec<(usize, String)> = Vec::new();
    let mut waiting: Option<(String, usize)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = without_comments(line);
        let line = line.trim();
        if let Some(label) = line.strip_suffix(':') {
            if let Some(name) = label.strip_prefix(".text.") {
                finish(functions.last_mut(), &mut labels, &mut branches);
                functions.push(Function {
                    name: name.to_owned(),
                    instructions: Vec::new(),
                });
            } else if let (Some(function), true) = (functions.last(), label.starts_with(".L")) {
                labels.insert(label.to_owned(), function.instructions.len());
                waiting = Some((label.to_owned(), number));
            }
            continue;
        }
        let (Some(function), Some(text)) = (functions.last_mut(), line.strip_suffix(';')) else {
            continue;
        };
        let (instruction, target) = instruction(text, number, waiting.take());
        if let Some(target) = target {
            branches.push((function.instructions.len(), target));
        }
        function.instructions.push(instruction);
    }
    finish(functions.last_mut(), &mut labels, &mut branches);
    functions
}

fn without_comments(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept += before;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}

fn finish(
    function: Option<&mut Function>,
    labels: &mut BTreeMap<String, usize>,
    branches: &mut Vec<(usize, String)>,
) {
    let labels = std::mem::take(labels);
    let Some(function) = function else {
        return;
    };
    for (index, target) in branches.drain(..) {
        if let (Some(branch), Some(&target)) =
            (function.instructions.get_mut(index), labels.get(&target))
        {
            branch.targets.push(target);
        }
    }
}

/// An instruction and the label that it branches to.
fn instruction(
    text: &str,
    number: usize,
    label: Option<(String, usize)>,
) -> (Instruction, Option<String>) {
    let mut rest = text.trim().trim_start_matches('{').trim_start();
    let guarded = rest.starts_with('@') && !rest.starts_with("@PT ");
    if rest.starts_with('@') {
        rest = rest
            .split_once(char::is_whitespace)
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let base = opcode.split('.').next().unwrap_or("");
    let named = operands.split_once("`(").map(|(before, after)| {
        let name = after.split(')').next().unwrap_or("");
        (before.trim().to_owned(), name.trim().to_owned())
    });
    let branch = named.filter(|_| base == "BRA");
    // A branch with operands before its target depends on them.
    let depends = branch
        .as_ref()
        .is_some_and(|(before, _)| !before.is_empty());
    let leaves = matches!(base, "BRA" | "BRX" | "BRXU" | "JMP" | "EXIT" | "RET");
    let event = event(opcode);
    let kept = operands.split_once(',').map_or("", |(_, kept)| kept);
    let waits = event.is_some_and(Event::is_wait);
    let instruction = Instruction {
        label: label.as_ref().map(|(name, _)| name.clone()),
        line: label.map_or(number, |(_, line)| line),
        event,
        operands: if waits {
            kept.split_whitespace().collect()
        } else {
            String::new()
        },
        works: works(base),
        targets: Vec::new(),
        falls_through: guarded || depends || !leaves,
        // ptxas repeats an instruction that takes one thread, where several may come.
        serialises: opcode == "BRA.U.ANY",
    };
    (instruction, branch.map(|(_, name)| name))
}

fn event(opcode: &str) -> Option<Event> {
    let has = |part: &str| opcode.split('.').any(|p| p == part);
    let base = opcode.split('.').next().unwrap_or("");
    Some(match base {
        "SYNCS" if has("PHASECHK") && has("TRYWAIT") => Event::TryWait,
        "SYNCS" if has("PHASECHK") => Event::TestWait,
        // A1T0 is one arrival and no bytes; without it, bytes come from a register.
        "SYNCS" if has("ARRIVE") && (has("A1T0") || !has("TRANS64")) => Event::Arrive,
        "SYNCS" if has("ARRIVE") => Event::ExpectTx,
        "ARRIVES" => Event::Arrive,
        "ATOMS" if has("ARRIVE") => Event::Arrive,
        "UTCBAR" => Event::Commit,
        "LDGSTS" => Event::CpAsync,
        "UBLKCP" | "UBLKRED" | "UTMALDG" | "UTMASTG" | "UTMAREDG" => Event::BulkCopy,
        "BAR" if has("SYNC") || has("RED") => Event::BarSync,
        "WARPSYNC" => Event::BarWarpSync,
        "ELECT" => Event::Elect,
        "FENCE" if has("VIEW") && has("ASYNC") => Event::FenceProxyAsync,
        "NANOSLEEP" => Event::Nanosleep,
        _ => return None,
    })
}

/// Whether an instruction touches memory or the tensor cores. Constants are no memory here: their
/// loads stand anywhere.
fn works(base: &str) -> bool {
    let memory = [
        "LD", "LDG", "LDS", "LDSM", "ST", "STG", "STS", "STSM", "ATOM", "ATOMG", "RED",
    ];
    memory.contains(&base)
        || base.ends_with("MMA")
        || matches!(base, "LDTM" | "STTM" | "ATOMS" | "UTCCP")
}
