//! Control flow: `bra`, `brx.idx`, `ret`, `exit`, `trap`; and what has to hold when threads end.

use super::{Execute, decode::{DecodeError, Decoder, Src}};
use crate::{
    machine::{Machine, ids::CtaRef, step::{Flow, Step}, warp::Warp},
    report::{Fault, Kind, Severity},
    syntax::ast::{Operand, ScalarType},
};

type Result<T> = std::result::Result<T, DecodeError>;

/// `bra`. Whether `.uni` holds is not looked at: compilers put it under predicates that differ.
#[derive(Debug)]
struct Branch {
    target: u32,
}

impl Execute for Branch {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        Ok(Flow::Branch {
            mask: step.mask,
            target: self.target,
        })
    }
}

pub(super) fn decode_bra(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.flag("uni");
    d.expect_operands(1..=1)?;
    match d.operand(0)? {
        Operand::Label(target) => Ok(Box::new(Branch { target: *target })),
        _ => Err(d.error("needs a label")),
    }
}

/// `brx.idx`: the index counts from 0; one past the table is undefined, and a fault here.
#[derive(Debug)]
struct IndexedBranch {
    index: Src,
    targets: Vec<u32>,
}

impl Execute for IndexedBranch {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let mut groups: Vec<(u32, u32)> = Vec::new();
        for lane in step.lanes() {
            let index = step.get(self.index, lane);
            let target = usize::try_from(index).ok().and_then(|i| self.targets.get(i));
            let Some(&target) = target else {
                return Err(Fault::new(
                    Kind::InvalidOperand,
                    format!(
                        "the index {index} of lane {lane} is outside the table of {} labels",
                        self.targets.len()
                    ),
                ));
            };
            match groups.iter_mut().find(|(_, t)| *t == target) {
                Some((mask, _)) => *mask |= 1 << lane,
                None => groups.push((1 << lane, target)),
            }
        }
        Ok(Flow::Scatter(groups))
    }
}

pub(super) fn decode_brx(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.need("idx")?;
    d.flag("uni");
    d.expect_operands(2..=2)?;
    let index = d.src(0, ScalarType::U32)?;
    let targets = match d.operand(1)? {
        Operand::Table(_) => d.table(1)?.to_vec(),
        _ => return Err(d.error("needs a table of labels")),
    };
    Ok(Box::new(IndexedBranch { index, targets }))
}

/// `ret` and `exit` of a kernel.
#[derive(Debug)]
struct Exit;

impl Execute for Exit {
    fn execute(&self, _: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        Ok(Flow::Exit)
    }
}

pub(super) fn decode_exit(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.flag("uni");
    d.expect_operands(0..=0)?;
    Ok(Box::new(Exit))
}

/// `trap`.
#[derive(Debug)]
struct Trap;

impl Execute for Trap {
    fn execute(&self, _: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        Err(Fault::new(Kind::Trap, "the kernel executed trap"))
    }
}

pub(super) fn decode_trap(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.expect_operands(0..=0)?;
    Ok(Box::new(Trap))
}

/// What must not be left undone by threads that end.
///
/// # Errors
/// None at present: what is found is reported and the run goes on.
pub(crate) fn check_exit(
    machine: &mut Machine,
    warp: &Warp,
    mask: u32,
    pc: u32,
) -> std::result::Result<(), Fault> {
    let thread = warp.thread(mask.trailing_zeros() % 32);
    if warp.cp_async.in_flight(mask) {
        machine.report(
            Kind::ExitWithWork,
            Severity::Error,
            "a thread ends while its cp.async copies are in flight, and no mbarrier waits for them"
                .to_owned(),
            pc,
            thread,
            u32::MAX,
            Vec::new(),
        );
    }
    super::bulk::check_exit(machine, warp, mask, pc);
    super::wgmma::check_exit(machine, warp, mask, pc);
    Ok(())
}

/// What must not be left behind by a cluster.
pub(crate) fn check_cluster_end(machine: &mut Machine, cluster: u32) {
    let ranks = machine
        .cluster_mut(cluster)
        .map_or(0, |cluster| cluster.ctas.len() as u32);
    for rank in 0..ranks {
        let cta = CtaRef { cluster, rank };
        super::tcgen05::check_end(machine, cta);
    }
}

