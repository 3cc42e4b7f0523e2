//! `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, and the prefetches of tensors and maps.

use ptx_model::target::Target;

use super::{
    Execute,
    bulk::{
        cache_policy, global_ranges, multicast, same_cta,
        transfer::{self, Delivery, Reduction},
    },
    decode::{Address, DecodeError, Decoder, Src},
    mbarrier::barrier_at,
};
use crate::{
    machine::{
        ids::CtaRef,
        step::{Flow, Location, Step, Window},
    },
    report::{Fault, Kind},
    syntax::ast::{Operand, ScalarType},
    tensor_map::{
        CopyError, Direction, MAP_ALIGN, MAP_BYTES, MapError, MapRule, Plan, ReduceOp, TensorMap,
    },
};

type Result<T> = std::result::Result<T, DecodeError>;

/// A tensor map's address and where the box starts.
#[derive(Debug)]
struct Tensor {
    map: Address,
    coordinates: Vec<Src>,
}

impl Tensor {
    /// The map, read and judged as the driver would.
    fn map(&self, step: &mut Step<'_>, lane: usize) -> std::result::Result<TensorMap, Fault> {
        let address = step.address(self.map, lane);
        read_map(step, lane, address)
    }

    fn coordinates(&self, step: &Step<'_>, lane: usize) -> Vec<i32> {
        let coordinates = self.coordinates.iter();
        coordinates
            .map(|src| step.get(*src, lane) as u32 as i32)
            .collect()
    }
}

/// Reads the tensor map at a generic address.
///
/// # Errors
/// There is none, or none that the driver would have encoded.
pub(super) fn read_map(
    step: &mut Step<'_>,
    lane: usize,
    address: u64,
) -> std::result::Result<TensorMap, Fault> {
    let location = step.locate(Window::Generic, lane, address, MAP_BYTES as u64, MAP_ALIGN)?;
    if matches!(location, Location::Shared(..) | Location::Local(_)) {
        return Err(Fault::new(
            Kind::InvalidOperand,
            format!(
                "the tensor map of lane {lane} lies in shared or local memory; .param, .const and .global are allowed"
            ),
        ));
    }
    let mut bytes = [0; MAP_BYTES];
    step.read(location, lane, &mut bytes)?;
    let map = TensorMap::decode(&bytes)?;
    map.validate(target(step))?;
    Ok(map)
}

/// The target whose rules hold; unknown names count as the newest that they begin like.
fn target(step: &Step<'_>) -> Target {
    let name = &step.machine.program.target;
    name.parse().unwrap_or(if name.starts_with("sm_10") {
        Target::Sm100a
    } else {
        Target::Sm90a
    })
}

impl From<MapError> for Fault {
    fn from(error: MapError) -> Self {
        Self::new(Kind::InvalidOperand, error.to_string())
    }
}

impl From<MapRule> for Fault {
    fn from(rule: MapRule) -> Self {
        Self::new(
            Kind::InvalidOperand,
            format!("the tensor map is not valid: {rule}"),
        )
    }
}

impl From<CopyError> for Fault {
    fn from(error: CopyError) -> Self {
        let kind = match error {
            CopyError::SharedAlignment { .. } | CopyError::Unaligned { .. } => Kind::Misaligned,
            CopyError::TooLarge { .. } | CopyError::AddressOverflow => Kind::OutOfBounds,
            CopyError::Unsupported(_) => Kind::Unsupported,
            _ => Kind::InvalidOperand,
        };
        Self::new(kind, error.to_string())
    }
}

/// `cp.async.bulk.tensor` from global to shared memory.
#[derive(Debug)]
struct Load {
    window: Window,
    dst: Address,
    tensor: Tensor,
    barrier: Address,
    mask: Option<Src>,
    /// `.cta_group::2`: the barrier may lie in either CTA of the pair.
    pair: bool,
}

impl Execute for Load {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let map = self.tensor.map(step, lane)?;
            let address = step.address(self.dst, lane);
            let (cta, offset) = shared(step, self.window, lane, address)?;
            let coordinates = self.tensor.coordinates(step, lane);
            let plan = Plan::new(&map, &coordinates, offset, Direction::Load)?;
            let deliveries = self.deliveries(step, lane, cta)?;
            transfer::load(step, lane, plan, &deliveries)?;
        }
        Ok(Flow::Next)
    }
}

impl Load {
    fn deliveries(
        &self,
        step: &Step<'_>,
        lane: usize,
        cta: CtaRef,
    ) -> std::result::Result<Vec<Delivery>, Fault> {
        let address = step.address(self.barrier, lane);
        // The address carries the rank of the barrier's CTA: with bit 24 cleared it names the even
        // one of the pair, whatever the destination's window.
        let window = if self.pair {
            Window::SharedCluster
        } else {
            self.window
        };
        let (home, offset) = barrier_at(step, window, lane, address)?;
        let Some(mask) = self.mask else {
            if self.pair {
                same_pair(lane, home, cta)?;
            } else {
                same_cta(lane, home, cta)?;
            }
            let barrier = (home, offset);
            return Ok(vec![Delivery { cta, barrier }]);
        };
        // With pairs, the CTA of each destination's pair hears that has the parity of the named
        // barrier's CTA (PTX ISA, cp.async.bulk.tensor).
        multicast(
            step,
            lane,
            mask,
            |rank| CtaRef {
                rank: if self.pair {
                    rank & !1 | home.rank & 1
                } else {
                    rank
                },
                ..home
            },
            offset,
        )
    }
}

fn same_pair(lane: usize, barrier: CtaRef, data: CtaRef) -> std::result::Result<(), Fault> {
    if barrier.rank / 2 == data.rank / 2 {
        return Ok(());
    }
    same_cta(lane, barrier, data)
}

fn shared(
    step: &Step<'_>,
    window: Window,
    lane: usize,
    address: u64,
) -> std::result::Result<(CtaRef, u32), Fault> {
    match step.locate(window, lane, address, 1, 1)? {
        Location::Shared(cta, offset) => Ok((cta, offset)),
        _ => Err(Fault::new(
            Kind::InvalidOperand,
            format!("the address {address:#x} of lane {lane} is not in shared memory"),
        )),
    }
}

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor` from shared to global memory.
#[derive(Debug)]
struct Store {
    tensor: Tensor,
    src: Address,
    op: Option<ReduceOp>,
}

impl Execute for Store {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let map = self.tensor.map(step, lane)?;
            let address = step.address(self.src, lane);
            let (_, offset) = shared(step, Window::SharedCta, lane, address)?;
            let coordinates = self.tensor.coordinates(step, lane);
            let plan = Plan::new(&map, &coordinates, offset, Direction::Store)?;
            let reduction = match self.op {
                Some(op) => Some(reduction(&map, op)?),
                None => None,
            };
            transfer::store(step, lane, plan, reduction)?;
        }
        Ok(Flow::Next)
    }
}

/// The elements' type decides what a reduction does.
fn reduction(map: &TensorMap, op: ReduceOp) -> std::result::Result<Reduction, Fault> {
    let kind = map.element.reduce_type().filter(|kind| kind.has(op));
    let kind = kind.ok_or_else(|| {
        Fault::new(
            Kind::InvalidOperand,
            format!("there is no reduction .{op} of tensors of {}", map.element),
        )
    })?;
    Ok(Reduction { op, kind })
}

/// A prefetch moves nothing that a program could see, but map and addresses have to be right.
#[derive(Debug)]
struct Prefetch {
    tensor: Tensor,
}

impl Execute for Prefetch {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let map = self.tensor.map(step, lane)?;
            let coordinates = self.tensor.coordinates(step, lane);
            let plan = Plan::new(&map, &coordinates, 0, Direction::Load)?;
            global_ranges(step.machine, &plan)?;
        }
        Ok(Flow::Next)
    }
}

/// `prefetch.tensormap`.
#[derive(Debug)]
struct PrefetchMap {
    window: Window,
    map: Address,
}

impl Execute for PrefetchMap {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let address = step.address(self.map, lane);
            let (bytes, align) = (MAP_BYTES as u64, MAP_ALIGN);
            step.locate(self.window, lane, address, bytes, align)?;
        }
        Ok(Flow::Next)
    }
}

/// `cp.async.bulk.tensor` and its kin.
pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let reduces = d.flag("reduce");
    d.need("async")?;
    d.need("bulk")?;
    d.need("tensor")?;
    let prefetches = d.flag("prefetch");
    let dimensions = ["1d", "2d", "3d", "4d", "5d"];
    let name = d.need_one_of(&dimensions)?;
    let rank = 1 + dimensions
        .iter()
        .position(|other| *other == name)
        .unwrap_or(0);
    let other_mode = d
        .modifiers()
        .iter()
        .find(|m| m.starts_with("im2col") || m.starts_with("tile::"));
    if let Some(mode) = other_mode {
        return Err(d.error(format!(".{mode} is not supported, only .tile")));
    }
    d.flag("tile");
    if prefetches {
        d.need("L2")?;
        d.need("global")?;
        let policy = usize::from(d.flag("L2::cache_hint"));
        d.expect_operands(1 + policy..=1 + policy)?;
        cache_policy(d, 1, policy)?;
        let tensor = tensor(d, 0, rank)?;
        return Ok(Box::new(Prefetch { tensor }));
    }
    let spaces = ["shared::cluster", "shared::cta", "global"];
    let mut named = d
        .modifiers()
        .iter()
        .map(String::as_str)
        .filter(|name| spaces.contains(name));
    let pair = (named.next(), named.next());
    for space in spaces {
        d.flag(space);
    }
    match pair {
        (Some("global"), Some("shared::cta")) => decode_store(d, rank, reduces),
        _ if reduces => Err(d.error("reductions go from shared::cta to global memory")),
        (Some("shared::cluster"), Some("global")) => decode_load(d, rank, Window::SharedCluster),
        (Some("shared::cta"), Some("global")) => decode_load(d, rank, Window::SharedCta),
        _ => Err(d.error("there are no tensor copies between these state spaces")),
    }
}

fn decode_load(d: &mut Decoder<'_>, rank: usize, window: Window) -> Result<Box<dyn Execute>> {
    d.need("mbarrier::complete_tx::bytes")?;
    let multicast = usize::from(d.flag("multicast::cluster"));
    if multicast == 1 && window != Window::SharedCluster {
        return Err(d.error("only copies to shared::cluster memory can be multicast"));
    }
    let pair = d.one_of(&["cta_group::1", "cta_group::2"]) == Some("cta_group::2");
    let policy = usize::from(d.flag("L2::cache_hint"));
    let count = 3 + multicast + policy;
    d.expect_operands(count..=count)?;
    let mask = match multicast {
        0 => None,
        _ => Some(d.src(3, ScalarType::U16)?),
    };
    cache_policy(d, count - 1, policy)?;
    Ok(Box::new(Load {
        window,
        dst: d.address(0)?,
        tensor: tensor(d, 1, rank)?,
        barrier: d.address(2)?,
        mask,
        pair,
    }))
}

fn decode_store(d: &mut Decoder<'_>, rank: usize, reduces: bool) -> Result<Box<dyn Execute>> {
    d.need("bulk_group")?;
    let op = match reduces {
        true => Some(
            d.parse_modifier(ReduceOp::from_name)
                .ok_or_else(|| d.error("needs an operation"))?,
        ),
        false => None,
    };
    let policy = usize::from(d.flag("L2::cache_hint"));
    d.expect_operands(2 + policy..=2 + policy)?;
    cache_policy(d, 2, policy)?;
    Ok(Box::new(Store {
        tensor: tensor(d, 0, rank)?,
        src: d.address(1)?,
        op,
    }))
}

/// `[map, {c0, c1, …}]`.
fn tensor(d: &mut Decoder<'_>, index: usize, rank: usize) -> Result<Tensor> {
    let (map, more) = d.memory(index)?;
    let coordinates = match more {
        [Operand::Vector(elements)] => elements.as_slice(),
        [single] => std::slice::from_ref(single),
        _ => return Err(d.error("needs [map, {coordinates}]")),
    };
    if coordinates.len() != rank {
        let given = coordinates.len();
        return Err(d.error(format!("needs {rank} coordinates, got {given}")));
    }
    let coordinates = coordinates
        .iter()
        .map(|element| d.src_of(element, ScalarType::S32))
        .collect::<Result<_>>()?;
    Ok(Tensor { map, coordinates })
}

pub(super) fn decode_prefetch_tensormap(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let window = match d.one_of(&["param", "const"]) {
        Some("param") => Window::Param,
        Some("const") => Window::Const,
        _ => Window::Generic,
    };
    d.expect_operands(1..=1)?;
    let map = d.address(0)?;
    Ok(Box::new(PrefetchMap { window, map }))
}
