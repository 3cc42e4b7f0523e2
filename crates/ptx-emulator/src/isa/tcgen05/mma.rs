//! `tcgen05.mma`: decoding and issue (PTX ISA 9.7.16.10). The product itself is in
//! [`multiply`](super::multiply).

use super::{
    Use, cta_group, keep_to_group,
    multiply::{OperandA, Product, Scales},
    operand::{SharedOperand, watch_reads},
    order, stream, touch, working_ctas,
};
use crate::{
    detect::{Epoch, Mode, Proxy},
    formats::{operand::Major, tile::Element},
    isa::{
        Execute,
        decode::{Address, DecodeError, Decoder, Pred, Src},
    },
    machine::{
        events::Unit,
        ids::ThreadRef,
        step::{Flow, Step},
    },
    report::{Fault, Kind},
    syntax::ast::{Operand, ScalarType},
    tensor_memory::{
        CELL_LANES, LANES, Region, TensorAddress,
        data_path::DataPath,
        instruction_descriptor::{InstructionDescriptor, InstructionDescriptorError, ScaleSelect},
        scale::{ScaleVector, scale_columns},
        shapes::{CtaGroup, MmaKind},
    },
};

/// Columns that the K of one instruction takes for A in tensor memory: 32 bytes.
const A_COLUMNS: u32 = 8;

impl From<InstructionDescriptorError> for Fault {
    fn from(error: InstructionDescriptorError) -> Self {
        Self::new(Kind::InvalidOperand, error.to_string())
    }
}

#[derive(Debug)]
enum SourceA {
    Shared(Src),
    Tensor(Address),
}

/// One decoded instruction.
#[derive(Debug)]
struct Mma {
    group: CtaGroup,
    kind: MmaKind,
    d: Address,
    a: SourceA,
    b: Src,
    descriptor: Src,
    /// Addresses of the scale factors of A and B.
    scales: Option<(ScaleVector, Address, Address)>,
    /// Lanes that are not written, a bit each; empty for none.
    disabled: Vec<Src>,
    accumulate: Pred,
    /// D is divided by 2 to this power before it is added to.
    scale_d: u32,
}

impl Execute for Mma {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        keep_to_group(step, self.group)?;
        for lane in step.lanes() {
            self.issue(step, lane)?;
        }
        Ok(Flow::Next)
    }
}

impl Mma {
    fn issue(&self, step: &mut Step<'_>, lane: usize) -> Result<(), Fault> {
        let ctas = working_ctas(step, self.group)?;
        let word = step.get(self.descriptor, lane) as u32;
        let descriptor = InstructionDescriptor::decode(word, self.kind, self.group)?;
        let path = DataPath::select(self.group, descriptor.m, false, false).ok_or_else(|| {
            Fault::new(
                Kind::InvalidOperand,
                format!("instruction descriptor {word:#010x} has no data path"),
            )
        })?;
        let d = TensorAddress::from_bits(step.address(self.d, lane) as u32);
        if !path.begins_at(d.lane) {
            return Err(Fault::new(
                Kind::InvalidOperand,
                format!(
                    "D at {d}: with M={} it cannot begin at this lane",
                    descriptor.m
                ),
            ));
        }
        let major = |mn_major| if mn_major { Major::Mn } else { Major::K };
        let depth = self.kind.k();
        let a = match &self.a {
            SourceA::Shared(src) => OperandA::Shared(SharedOperand::new(
                step.get(*src, lane),
                "A",
                descriptor.a,
                major(descriptor.a_mn_major),
                path.rows_per_cta(),
                depth,
            )?),
            SourceA::Tensor(address) => {
                let at = TensorAddress::from_bits(step.address(*address, lane) as u32);
                check_tensor_a(&descriptor, d, at)?;
                OperandA::Tensor(at)
            }
        };
        let b = SharedOperand::new(
            step.get(self.b, lane),
            "B",
            descriptor.b,
            major(descriptor.b_mn_major),
            descriptor.n / self.group.count(),
            depth,
        )?;
        let product = Product {
            kind: self.kind,
            path,
            ctas,
            d,
            a,
            b,
            scales: self.scales(step, lane, descriptor.scale)?,
            accumulate: step.pred(self.accumulate) >> lane & 1 == 1,
            scale_d: self.scale_d,
            disabled: std::array::from_fn(|word| {
                self.disabled
                    .get(word)
                    .map_or(0, |&src| step.get(src, lane) as u32)
            }),
            descriptor,
        };
        let thread = step.thread(lane);
        let epoch = stream(step.machine, thread)?;
        watch(step, &product, thread, epoch)?;
        let site = step.site(lane);
        let cluster = thread.cta.cluster;
        step.machine.post(
            Unit::Tensor,
            order(thread),
            site,
            cluster,
            Box::new(product),
        );
        Ok(())
    }

    fn scales(
        &self,
        step: &Step<'_>,
        lane: usize,
        select: Option<ScaleSelect>,
    ) -> Result<Option<Scales>, Fault> {
        let (Some((vector, a, b)), Some(select)) = (self.scales, select) else {
            return Ok(None);
        };
        let column = |operand, address, id| {
            scale_column(operand, vector, step.address(address, lane) as u32, id)
        };
        Ok(Some(Scales {
            vector,
            a: column("A", a, select.a_id)?,
            b: column("B", b, select.b_id)?,
            select,
        }))
    }
}

/// The first column of scale factors. CUTLASS leaves the id of the factor in bits 31–30 of the
/// address; the instruction descriptor is what counts.
fn scale_column(operand: &str, vector: ScaleVector, address: u32, id: u32) -> Result<u32, Fault> {
    let refuse = |what: String| {
        let message = format!("scale factors of {operand} at {address:#010x}: {what}");
        Err(Fault::new(Kind::InvalidOperand, message))
    };
    if !vector.begins_at(id) {
        return refuse(format!("{vector:?} cannot begin with factor {id}"));
    }
    let marked = address >> 30;
    if marked != 0 && marked != id {
        return refuse(format!(
            "the address says factor {marked}, the descriptor {id}"
        ));
    }
    let at = TensorAddress::from_bits(address & 0x3fff_ffff);
    if at.lane != 0 {
        return refuse("they have to begin at lane 0".to_owned());
    }
    Ok(at.column)
}

fn check_tensor_a(
    descriptor: &InstructionDescriptor,
    d: TensorAddress,
    a: TensorAddress,
) -> Result<(), Fault> {
    let refuse = |kind, what: &str| {
        Err(Fault::new(
            kind,
            format!("A in tensor memory at {a}: {what}"),
        ))
    };
    if descriptor.a_mn_major {
        return refuse(Kind::InvalidOperand, "it has to be K-major");
    }
    if descriptor.a == Element::E2m1 {
        return refuse(
            Kind::Unsupported,
            "elements of type e2m1 are not supported there",
        );
    }
    if a.lane != d.lane {
        return refuse(Kind::InvalidOperand, "its lanes have to be those of D");
    }
    Ok(())
}

/// Tells the detector what the product reads and writes.
fn watch(
    step: &mut Step<'_>,
    product: &Product,
    thread: ThreadRef,
    epoch: Epoch,
) -> Result<(), Fault> {
    let pc = step.pc;
    let using = |mode| Use {
        thread,
        epoch,
        mode,
        proxy: Proxy::Tensor,
        pc,
    };
    let first = product.d.lane;
    let lanes = product.path.lane_ranges(first);
    let over = |column, columns| -> Vec<Region> {
        let region = |lanes: &std::ops::Range<u32>| {
            Region::new(lanes.start, lanes.end - lanes.start, column, columns)
        };
        lanes.iter().map(region).collect()
    };
    for &cta in &product.ctas {
        let machine = &mut *step.machine;
        watch_reads(machine, cta, product.b.addresses(), thread, epoch, pc)?;
        match &product.a {
            OperandA::Shared(a) => watch_reads(machine, cta, a.addresses(), thread, epoch, pc)?,
            OperandA::Tensor(at) => {
                touch(
                    machine,
                    cta,
                    &over(at.column, A_COLUMNS),
                    true,
                    using(Mode::Read),
                )?;
            }
        }
        if let Some(scales) = &product.scales {
            let n = product.path.columns(product.descriptor.n);
            let a = scale_columns(product.path.rows_per_cta());
            for (column, columns) in [(scales.a, a), (scales.b, scale_columns(n))] {
                let region = Region::new(0, LANES, column, columns);
                touch(machine, cta, &[region], true, using(Mode::Read))?;
            }
        }
        let columns = product.path.columns(product.descriptor.n);
        let mut written = over(product.d.column, columns);
        if product.disabled != [0; 4] {
            written = written
                .into_iter()
                .flat_map(|region| region.lanes)
                .step_by(CELL_LANES as usize)
                .filter(|&lane| !product.disables_cell(lane))
                .map(|lane| Region::new(lane, CELL_LANES, product.d.column, columns))
                .collect();
        }
        touch(
            machine,
            cta,
            &written,
            product.accumulate,
            using(Mode::Write),
        )?;
    }
    Ok(())
}

/// Modifiers that only concern which data the hardware may keep at hand.
fn collector_hints(d: &mut Decoder<'_>) {
    d.one_of(&[
        "collector::a::fill",
        "collector::a::use",
        "collector::a::lastuse",
        "collector::a::discard",
    ]);
}

pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    d.need("mma")?;
    if let Some(variant) = d.one_of(&["sp", "ws", "ashift"]) {
        return Err(d.error(format!(".{variant} is not supported")));
    }
    let group = cta_group(d)?;
    let kind = d
        .parse_modifier(MmaKind::from_modifier)
        .ok_or_else(|| d.error("needs a .kind that exists"))?;
    collector_hints(d);
    let vector = decode_scales(d, kind)?;
    let a = match d.operand(1)? {
        Operand::Memory { .. } => SourceA::Tensor(d.address(1)?),
        _ => SourceA::Shared(d.src(1, ScalarType::B64)?),
    };
    let scales = match vector {
        Some(vector) => Some((vector, d.address(4)?, d.address(5)?)),
        None => None,
    };
    let mut next = if scales.is_some() { 6 } else { 4 };
    let mut disabled = Vec::new();
    if scales.is_none() && matches!(d.operand(next)?, Operand::Vector(_)) {
        if group == CtaGroup::Two {
            return Err(d.error("disable-output-lane with cta_group::2 is not supported"));
        }
        disabled = d.srcs(next, ScalarType::B32, Some(4))?;
        next += 1;
    }
    let accumulate = d.pred(next)?;
    let mut scale_d = 0;
    if d.operand_count() == next + 2 {
        if !matches!(kind, MmaKind::F16 | MmaKind::Tf32) {
            return Err(d.error("scale-input-d is for kind::f16 and kind::tf32 only"));
        }
        scale_d = match d.immediate(next + 1)? {
            power @ 0..=15 => power as u32,
            _ => return Err(d.error("scale-input-d has to be 0 to 15")),
        };
        next += 1;
    }
    d.expect_operands(next + 1..=next + 1)?;
    Ok(Box::new(Mma {
        group,
        kind,
        d: d.address(0)?,
        a,
        b: d.src(2, ScalarType::B64)?,
        descriptor: d.src(3, ScalarType::B32)?,
        scales,
        disabled,
        accumulate,
        scale_d,
    }))
}

fn decode_scales(d: &mut Decoder<'_>, kind: MmaKind) -> Result<Option<ScaleVector>, DecodeError> {
    if !kind.is_block_scaled() {
        return Ok(None);
    }
    d.need("block_scale")?;
    let size = d.one_of(&[
        "scale_vec::1X",
        "scale_vec::2X",
        "scale_vec::4X",
        "block16",
        "block32",
    ]);
    match ScaleVector::select(kind, size) {
        Some(vector) => Ok(Some(vector)),
        None => Err(d.error(format!(
            "kind::{} needs a scale vector size that it has",
            kind.name()
        ))),
    }
}
