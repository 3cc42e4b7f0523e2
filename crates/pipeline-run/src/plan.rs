//! From manifest, arguments and addresses to the numbers of one launch.

use ptx_model::manifest::{GridError, GridExpr, Kernel, Parameter, TensorMap};

use crate::{
    bind::{Binding, Tensor},
    device::{Launch, TensorMapValue, Value},
};

/// Why there is no launch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The manifest leaves the grid to the caller, and the caller did not give one.
    #[error("the manifest has no grid for kernel `{0}`; give --grid X,Y,Z")]
    NoGrid(String),
    /// The grid's expression has no value.
    #[error("the grid cannot be computed")]
    Grid(#[from] GridError),
    /// More blocks than the hardware takes, or fewer than none.
    #[error("the grid has {size} blocks in dimension {dimension}, allowed are 0 to {limit}")]
    GridSize {
        /// `x`, `y` or `z`.
        dimension: char,
        /// The computed size.
        size: i64,
        /// The largest allowed.
        limit: i64,
    },
    /// Clusters do not fill the grid.
    #[error(
        "the grid has {size} blocks in dimension {dimension}, no multiple of the cluster's {cluster}"
    )]
    ClusterSize {
        /// `x`, `y` or `z`.
        dimension: char,
        /// The computed size.
        size: u32,
        /// The cluster's size.
        cluster: u32,
    },
    /// The device's memory is less aligned than the contract asks.
    #[error("argument `{name}` was allocated at {address:#x}, not a multiple of {alignment} bytes")]
    Address {
        /// The argument.
        name: String,
        /// Its address.
        address: u64,
        /// The contract.
        alignment: u32,
    },
    /// A parameter refers to an argument that is not bound; the manifest was not validated.
    #[error("parameter {0} refers to an argument that does not exist")]
    Parameter(usize),
}

/// The grid of a launch: the given one, or the manifest's. A size of 0 means nothing to do.
///
/// # Errors
/// No grid, one without a value, or one that the hardware does not take.
pub fn grid(
    kernel: &Kernel,
    binding: &Binding,
    sm_count: u32,
    given: Option<[u32; 3]>,
) -> Result<[u32; 3], PlanError> {
    if given.is_none() && kernel.grid.is_none() {
        return Err(PlanError::NoGrid(kernel.name.clone()));
    }
    let limits = [('x', i64::from(i32::MAX)), ('y', 65535), ('z', 65535)];
    let mut grid = [0; 3];
    for (axis, (dimension, limit)) in limits.into_iter().enumerate() {
        let size = match (given, &kernel.grid) {
            (Some(given), _) => i64::from(given[axis]),
            (None, Some(grid)) => GridExpr::eval(&grid[axis], &binding.env(sm_count))?,
            (None, None) => 0,
        };
        let in_range = (0..=limit).contains(&size);
        grid[axis] = match u32::try_from(size) {
            Ok(size) if in_range => size,
            _ => {
                return Err(PlanError::GridSize {
                    dimension,
                    size,
                    limit,
                });
            }
        };
    }
    for (axis, (dimension, _)) in limits.into_iter().enumerate() {
        let cluster = kernel.cluster.map_or(1, |cluster| cluster[axis]);
        if !grid[axis].is_multiple_of(cluster) {
            return Err(PlanError::ClusterSize {
                dimension,
                size: grid[axis],
                cluster,
            });
        }
    }
    Ok(grid)
}

/// The launch on `grid`, where `address` gives the first element's address of each tensor.
///
/// # Errors
/// Addresses that break the alignment contract.
pub fn launch(
    kernel: &Kernel,
    binding: &Binding,
    grid: [u32; 3],
    address: impl Fn(u32) -> u64,
) -> Result<Launch, PlanError> {
    for tensor in binding.tensors() {
        let address = address(tensor.index);
        if !address.is_multiple_of(u64::from(tensor.alignment)) {
            return Err(PlanError::Address {
                name: tensor.name.clone(),
                address,
                alignment: tensor.alignment,
            });
        }
    }
    let parameters = kernel
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            let value = parameter_value(binding, parameter, &address);
            value.ok_or(PlanError::Parameter(index))
        });
    Ok(Launch {
        grid,
        block: kernel.block,
        cluster: kernel.cluster,
        dynamic_shared_bytes: kernel.dynamic_shared_bytes,
        parameters: parameters.collect::<Result<_, _>>()?,
    })
}

fn parameter_value(
    binding: &Binding,
    parameter: &Parameter,
    address: &impl Fn(u32) -> u64,
) -> Option<Value> {
    let nth = |list: &[u64], n: u32| list.get(usize::try_from(n).ok()?).copied();
    let number = |value: u64| Value::Plain(value.to_le_bytes());
    match parameter {
        Parameter::TensorMap(map) => {
            let tensor = binding.tensor(map.argument)?;
            let value = tensor_map(tensor, map, address(map.argument));
            Some(Value::TensorMap(value))
        }
        Parameter::Pointer { argument } => {
            binding.tensor(*argument)?;
            Some(number(address(*argument)))
        }
        Parameter::Size {
            argument,
            dimension,
        } => nth(binding.tensor(*argument)?.layout.shape(), *dimension).map(number),
        Parameter::Stride {
            argument,
            dimension,
        } => nth(binding.tensor(*argument)?.layout.strides(), *dimension).map(number),
        Parameter::Scalar { argument, .. } => Some(Value::Plain(binding.scalar(*argument)?.bytes)),
    }
}

fn tensor_map(tensor: &Tensor, map: &TensorMap, address: u64) -> TensorMapValue {
    let element_bytes = u64::from(map.element_type.size_bytes());
    // The driver refuses sizes and strides of 0. A kernel must not touch a tensor without
    // elements, so what stands there instead is never used.
    let sizes = tensor.layout.shape().iter().map(|&size| size.max(1));
    let outer = tensor.layout.strides().split_last();
    let strides = outer.map_or(&[][..], |(_, outer)| outer).iter();
    let in_bytes = strides.map(|stride| stride.saturating_mul(element_bytes).max(16));
    TensorMapValue {
        address,
        element: map.element_type,
        sizes: sizes.collect(),
        outer_strides: in_bytes.collect(),
        box_shape: map.box_shape.clone(),
        element_strides: map.element_strides.clone(),
        swizzle: map.swizzle,
        fill: map.fill,
    }
}

#[cfg(test)]
mod tests {
    use ptx_model::manifest::{ElementType, Manifest};

    use super::*;
    use crate::bind::BindOptions;

    fn kernel(grid: &str, cluster: &str) -> Kernel {
        let text = r#"{"schema_version":1,"target":"sm_90a","ptx_version":"8.6","kernels":[{
          "name":"k","block":[96,1,1],"cluster":CLUSTER,"grid":GRID,"dynamic_shared_bytes":1024,
          "arguments":[{"kind":"memref","name":"A","element_type":"f16","shape":[null,null],
            "strides":[null,1],"alignment":16,"aliases":false},
            {"kind":"scalar","name":"n","type":"i32"}],
          "parameters":[{"kind":"tensor_map","argument":0,"element_type":"f16","box":[64,32],
            "element_strides":[1,1],"swizzle":"64b","fill":"zero"},
            {"kind":"pointer","argument":0},{"kind":"size","argument":0,"dimension":1},
            {"kind":"stride","argument":0,"dimension":0},{"kind":"scalar","argument":1,"type":"i32"}],
          "roles":[],"channels":[],"barriers":[],"registers_per_warpgroup":null,"wait_report":null}]}"#;
        let text = text.replace("GRID", grid).replace("CLUSTER", cluster);
        Manifest::from_json(&text).expect("valid").kernels.remove(0)
    }

    fn bound(kernel: &Kernel, size: &str) -> Binding {
        let options = BindOptions {
            sizes: vec![size.parse().expect("size")],
            scalars: vec!["n=-2".parse().expect("scalar")],
            ..BindOptions::default()
        };
        Binding::new(kernel, &options).expect("binds")
    }

    const ROWS: &str = r#"[{"ceildiv":[{"dim":{"argument":0,"dimension":0}},{"const":64}]},{"const":2},{"const":1}]"#;

    #[test]
    fn grids() {
        let tiled = kernel(ROWS, "null");
        assert_eq!(
            grid(&tiled, &bound(&tiled, "65x8"), 132, None),
            Ok([2, 2, 1])
        );
        assert_eq!(
            grid(&tiled, &bound(&tiled, "0x8"), 132, None),
            Ok([0, 2, 1])
        );
        assert_eq!(
            grid(&tiled, &bound(&tiled, "65x8"), 132, Some([7, 1, 1])),
            Ok([7, 1, 1])
        );
        let open = kernel("null", "null");
        let missing = grid(&open, &bound(&open, "8x8"), 132, None);
        assert_eq!(missing, Err(PlanError::NoGrid("k".to_owned())));
        let negative = kernel(
            r#"[{"scalar":{"argument":1}},"sm_count",{"const":1}]"#,
            "null",
        );
        let error = grid(&negative, &bound(&negative, "8x8"), 132, None).expect_err("negative");
        assert!(error.to_string().contains("-2 blocks in dimension x"));
        let clustered = kernel(ROWS, "[2,1,1]");
        assert!(grid(&clustered, &bound(&clustered, "65x8"), 132, None).is_ok());
        let error = grid(&clustered, &bound(&clustered, "1x8"), 132, None).expect_err("cluster");
        assert!(error.to_string().contains("no multiple of the cluster's 2"));
    }

    #[test]
    fn parameters_in_order() {
        let kernel = kernel(ROWS, "null");
        let launch = launch(&kernel, &bound(&kernel, "3x5"), [1, 2, 1], |_| 0x1000).expect("plans");
        let plain = |value: u64| Value::Plain(value.to_le_bytes());
        let map = TensorMapValue {
            address: 0x1000,
            element: ElementType::F16,
            sizes: vec![3, 5],
            outer_strides: vec![16],
            box_shape: vec![64, 32],
            element_strides: vec![1, 1],
            swizzle: ptx_model::manifest::Swizzle::B64,
            fill: ptx_model::manifest::Fill::Zero,
        };
        let expected = [
            Value::TensorMap(map),
            plain(0x1000),
            plain(5),
            plain(8),
            Value::Plain((-2i64).to_le_bytes()),
        ];
        assert_eq!(launch.parameters, expected);
    }

    #[test]
    fn empty_tensors_have_legal_maps_and_addresses_are_checked() {
        let kernel = kernel(ROWS, "null");
        let binding = bound(&kernel, "4x0");
        let empty = launch(&kernel, &binding, [1, 1, 1], |_| 0x1000).expect("plans");
        let Some(Value::TensorMap(map)) = empty.parameters.first() else {
            panic!("{empty:?}");
        };
        assert_eq!(
            (map.sizes.as_slice(), map.outer_strides.as_slice()),
            (&[4, 1][..], &[16][..])
        );
        let error = launch(&kernel, &binding, [1, 1, 1], |_| 0x1008).expect_err("misaligned");
        assert!(
            error
                .to_string()
                .contains("allocated at 0x1008, not a multiple of 16")
        );
    }
}
