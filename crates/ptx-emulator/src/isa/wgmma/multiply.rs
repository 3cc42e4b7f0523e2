//! `wgmma.mma_async`.

use std::sync::Arc;

use super::{
    need_warpgroup,
    operand::{SharedOperand, watch},
    state::Registers,
};
use crate::{
    formats::{
        dot::{accumulate_integers, accumulate_tile},
        operand::Major,
        tile::Element,
        warp_tile::{
            Accumulator, operand_a, read_floats, read_integers, write_floats, write_integers,
        },
    },
    isa::{
        Convergence, Execute,
        decode::{Pred, Src},
    },
    machine::{
        Machine,
        cta::Cta,
        events::{Order, Unit, Work},
        ids::CtaRef,
        step::{Flow, Step},
        warp::Warp,
    },
    report::{Fault, Kind, Severity},
};

type Outcome<T> = std::result::Result<T, Fault>;

/// Rows of a warp.
const ROWS: u32 = 16;

/// One decoded instruction.
#[derive(Debug)]
pub(super) struct Product {
    pub(super) kind: Accumulator,
    pub(super) a_element: Element,
    pub(super) b_element: Element,
    pub(super) columns: u32,
    pub(super) depth: u32,
    pub(super) saturate: bool,
    pub(super) registers: Arc<Registers>,
    /// The descriptor of A, unless it is in registers.
    pub(super) a: Option<(Src, Major)>,
    pub(super) b: (Src, Major),
    /// Whether the old D is added.
    pub(super) scale_d: Pred,
    pub(super) negate_a: bool,
    pub(super) negate_b: bool,
}

#[derive(Debug)]
pub(super) struct MultiplyAsync(pub(super) Arc<Product>);

impl Execute for MultiplyAsync {
    fn execute(&self, step: &mut Step<'_>) -> Outcome<Flow> {
        let product = &self.0;
        need_warpgroup(step)?;
        let accumulate = match step.pred(product.scale_d) {
            u32::MAX => true,
            0 => false,
            _ => {
                return Err(Fault::new(
                    Kind::Divergence,
                    "scale-d has to be the same in all lanes",
                ));
            }
        };
        let first_row = step.warp.index % 4 * ROWS;
        let rows = first_row..first_row + ROWS;
        let a = product.a.map(|descriptor| {
            SharedOperand::new(step, descriptor, product.a_element, rows, product.depth)
        });
        let a = a.transpose()?;
        let columns = 0..product.columns;
        let b = SharedOperand::new(step, product.b, product.b_element, columns, product.depth)?;
        check_registers(step, &product.registers);
        for operand in a.iter().chain([&b]) {
            watch(step, operand);
        }
        let (cta, warp, group) = (step.cta(), step.warp.index, step.warp.wgmma.open_group());
        step.warp.wgmma.issue(step.pc, product.registers.clone());
        let site = step.site(0);
        let work = QueuedProduct {
            product: product.clone(),
            cta,
            warp,
            group,
            accumulate,
            a,
            b,
        };
        let order = order(cta, warp);
        step.machine
            .post(Unit::Wgmma, order, site, cta.cluster, Box::new(work));
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

/// The products of a warp finish in the order of their issue.
fn order(cta: CtaRef, warp: u32) -> Order {
    const WGMMA: Order = 3 << 62;
    WGMMA
        | Order::from(cta.cluster) << 24
        | Order::from(cta.rank & 0xff) << 16
        | Order::from(warp & 0xffff)
}

/// Reports registers that an earlier product in flight still uses, and a missing first fence.
fn check_registers(step: &mut Step<'_>, registers: &Registers) {
    let thread = step.thread(0);
    let mut report = |message: String, other: u32, notes: Vec<String>| {
        let kind = Kind::WgmmaRegister;
        let (pc, severity) = (step.pc, Severity::Error);
        step.machine
            .report(kind, severity, message, pc, thread, other, notes);
    };
    if !step.warp.wgmma.is_fenced() {
        let message = "no wgmma.fence stands before the first wgmma.mma_async of the warp";
        report(message.to_owned(), u32::MAX, Vec::new());
    }
    if let Some((touch, writes)) = step.warp.wgmma.touched_by(registers) {
        let what = if touch.accumulator {
            "accumulators"
        } else {
            "registers of A"
        };
        let verb = if writes { "overwritten" } else { "read as A" };
        let message = format!(
            "{what} of a wgmma are {verb} by another before a wgmma.wait_group has waited for it"
        );
        let note = format!("in use by {}", step.machine.program.describe(touch.pc));
        let message = (message, touch.pc, vec![note]);
        let thread = step.thread(0);
        let (kind, pc) = (Kind::WgmmaRegister, step.pc);
        step.machine.report(
            kind,
            Severity::Error,
            message.0,
            pc,
            thread,
            message.1,
            message.2,
        );
    }
}

/// One warp's share of a product in the queue.
#[derive(Debug)]
struct QueuedProduct {
    product: Arc<Product>,
    cta: CtaRef,
    warp: u32,
    group: u32,
    accumulate: bool,
    a: Option<SharedOperand>,
    b: SharedOperand,
}

impl Work for QueuedProduct {
    fn finish(self: Box<Self>, machine: &mut Machine) -> Outcome<()> {
        let Some(Cta { shared, warps, .. }) = machine.cta_mut(self.cta) else {
            return Ok(());
        };
        let Some(warp) = warps.get_mut(self.warp as usize) else {
            return Ok(());
        };
        self.multiply(shared, warp);
        warp.wgmma.finish(self.group);
        Ok(())
    }
}

impl QueuedProduct {
    fn multiply(&self, shared: &[u8], warp: &mut Warp) {
        let product = &*self.product;
        let registers = &*product.registers;
        let (columns, depth) = (product.columns as usize, product.depth as usize);
        let mut a = match &self.a {
            Some(operand) => operand.load(shared, product.a_element, ROWS, product.depth),
            None => operand_a(product.a_element, registers.a.len(), |register, lane| {
                warp.rows[registers.a[register].0 as usize][lane] as u32
            }),
        };
        if product.negate_a != product.negate_b {
            a.values.iter_mut().for_each(|value| *value = -*value);
        }
        let b = self
            .b
            .load(shared, product.b_element, product.columns, product.depth);
        let old = |register: usize, lane: usize| {
            let place = registers
                .accumulators
                .get(register)
                .and_then(|dst| dst.as_src());
            match place {
                Some(src) if self.accumulate => warp.rows[src.0 as usize][lane] as u32,
                _ => 0,
            }
        };
        let rows = ROWS as usize;
        let mut integers = Vec::new();
        let mut floats = Vec::new();
        if product.kind == Accumulator::S32 {
            integers = read_integers(columns, old);
            let saturate = product.saturate;
            accumulate_integers(
                saturate,
                &a.values,
                &b.values,
                &mut integers,
                rows,
                columns,
                depth,
            );
        } else {
            floats = read_floats(product.kind, columns, old);
            let rule = Element::hopper_rule(product.a_element, product.b_element);
            accumulate_tile(
                rule,
                &a.values,
                &b.values,
                &mut floats,
                rows,
                columns,
                depth,
            );
        }
        let write = |register: usize, lane: usize, bits: u32| {
            let place = registers
                .accumulators
                .get(register)
                .and_then(|dst| dst.as_src());
            if let Some(src) = place {
                warp.rows[src.0 as usize][lane] = bits.into();
            }
        };
        if product.kind == Accumulator::S32 {
            write_integers(columns, &integers, write);
        } else {
            write_floats(product.kind, columns, &floats, write);
        }
    }
}
