//! Builds one launch: tensors in device memory, parameters in order, and what has to come out.

use std::sync::Arc;

use ptx_emulator::{
    Emulator, Launch, Program, memory::GlobalMemory, syntax, tensor_map::TensorMap,
};

use crate::{
    folder::{self, Description},
    numbers::{Element, Random},
};

/// Bytes before and after every result that have to stay as they are.
const GUARD: usize = 1024;

/// What fills guards, gaps between rows and results beforehand: NaN in every type of float.
const POISON: u8 = 0xff;

/// A matrix in device memory; rows lie `pitch` elements apart.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    /// What it is, for reports.
    pub(crate) name: &'static str,
    /// The type of its elements.
    pub(crate) element: Element,
    /// How many rows it has.
    pub(crate) rows: usize,
    /// Elements of a row.
    pub(crate) columns: usize,
    /// Elements from one row to the next.
    pub(crate) pitch: usize,
    /// Where element (0, 0) lies.
    pub(crate) address: u64,
    /// The elements without the gaps; empty for results.
    pub(crate) values: Vec<f64>,
}

impl Tensor {
    /// One row of the values.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }
}

/// How far a result may be from the reference: `relative * |reference| + absolute`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tolerance {
    /// In parts of the reference.
    pub(crate) relative: f64,
    /// In the units of the result.
    pub(crate) absolute: f64,
}

impl Tolerance {
    /// Whether nothing may be off.
    pub(crate) fn is_exact(self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0
    }
}

/// To the last bit.
pub(crate) const EXACT: Tolerance = Tolerance {
    relative: 0.0,
    absolute: 0.0,
};

/// A result that has to come out.
#[derive(Debug)]
pub(crate) struct Expected {
    /// Where.
    pub(crate) tensor: Tensor,
    /// What, before rounding to the element type.
    pub(crate) values: Vec<f64>,
    /// How exactly.
    pub(crate) tolerance: Tolerance,
}

/// A launch being built.
pub(crate) struct Setup {
    description: Description,
    emulator: Emulator,
    parameters: Vec<Vec<u8>>,
    grid: [u32; 3],
    expected: Vec<Expected>,
    scratch: Option<u64>,
    /// Source of inputs.
    pub(crate) random: Random,
}

/// A launch that is ready.
pub(crate) struct Case {
    /// `folder/name`.
    pub(crate) name: String,
    /// The kernel's text.
    pub(crate) text: String,
    /// The kernel, and memory as it is before the launch.
    pub(crate) emulator: Emulator,
    /// The launch.
    pub(crate) launch: Launch,
    /// What has to come out.
    pub(crate) expected: Vec<Expected>,
    /// Where the kernel keeps what it likes.
    pub(crate) scratch: Option<u64>,
}

impl Setup {
    /// Parses and decodes a kernel; none if the folder is not there.
    pub(crate) fn build(folder: &str, name: &str, build: impl FnOnce(&mut Self)) -> Option<Case> {
        let (text, description) = folder::read(folder, name)?;
        let module = syntax::parse(&text).unwrap_or_else(|error| panic!("{name}.ptx:{error}"));
        let entry = module
            .entries
            .iter()
            .find(|entry| entry.name == description.entry);
        let entry = entry.unwrap_or_else(|| panic!("{name} has no kernel {}", description.entry));
        let program =
            Program::new(&module, entry).unwrap_or_else(|error| panic!("{name}.ptx:{error}"));
        let mut setup = Self {
            description,
            emulator: Emulator::new(Arc::new(program)).expect("module variables fit"),
            parameters: Vec::new(),
            grid: [1; 3],
            expected: Vec::new(),
            scratch: None,
            random: Random(0x5eed),
        };
        build(&mut setup);
        assert_eq!(
            setup.parameters.len(),
            setup.description.parameters.len(),
            "{name}: the row gives another number of parameters than the kernel has"
        );
        assert!(
            !setup.expected.is_empty(),
            "{name}: the row expects nothing"
        );
        Some(Case {
            name: format!("{folder}/{name}"),
            text,
            emulator: setup.emulator,
            launch: Launch {
                grid: setup.grid,
                block: setup.description.block,
                cluster: setup.description.cluster,
                dynamic_shared_bytes: setup.description.dynamic_shared_bytes,
                parameters: setup.parameters,
            },
            expected: setup.expected,
            scratch: setup.scratch,
        })
    }

    /// How many blocks run, by coordinate.
    pub(crate) fn grid(&mut self, x: usize, y: usize) {
        self.grid = [x as u32, y as u32, 1];
    }

    /// How many programs run where a program is a cluster, as Triton and Gluon count: the first
    /// coordinate of a block is `program * cluster + rank`.
    pub(crate) fn programs(&mut self, x: usize, y: usize) {
        let cluster = self.description.cluster[0] as usize;
        self.grid(x * cluster, y);
    }

    fn memory(&mut self) -> &mut GlobalMemory {
        self.emulator.memory_mut()
    }

    fn allocate(&mut self, bytes: usize, name: &str) -> u64 {
        let memory = self.memory();
        let address = memory
            .allocate(bytes as u64, name)
            .expect("device memory suffices");
        memory
            .write(address, &vec![POISON; bytes])
            .expect("what was allocated can be written");
        address
    }

    /// A matrix of integers from `-most` to `most`, small enough for sums of products to be exact
    /// in every format.
    pub(crate) fn input(
        &mut self,
        name: &'static str,
        element: Element,
        [rows, columns]: [usize; 2],
        pitch: usize,
        most: i64,
    ) -> Tensor {
        let values = (0..rows * columns)
            .map(|_| self.random.integer(-most, most))
            .collect();
        self.filled(name, element, [rows, columns], pitch, values)
    }

    /// A matrix of given values.
    pub(crate) fn filled(
        &mut self,
        name: &'static str,
        element: Element,
        [rows, columns]: [usize; 2],
        pitch: usize,
        values: Vec<f64>,
    ) -> Tensor {
        let size = element.bytes();
        // Nothing follows the last element: reading on is out of bounds.
        let end = (rows - 1) * pitch + columns;
        let address = self.allocate(end * size, name);
        let mut bytes = vec![POISON; end * size];
        for (index, value) in values.iter().enumerate() {
            let at = (index / columns * pitch + index % columns) * size;
            bytes[at..at + size].copy_from_slice(&element.encode(*value).to_le_bytes()[..size]);
        }
        self.memory()
            .write(address, &bytes)
            .expect("what was allocated can be written");
        Tensor {
            name,
            element,
            rows,
            columns,
            pitch,
            address,
            values,
        }
    }

    /// Room for a result, with guards around it.
    pub(crate) fn output(
        &mut self,
        name: &'static str,
        element: Element,
        [rows, columns]: [usize; 2],
        pitch: usize,
    ) -> Tensor {
        let bytes = rows * pitch * element.bytes();
        let address = self.allocate(bytes + 2 * GUARD, name) + GUARD as u64;
        Tensor {
            name,
            element,
            rows,
            columns,
            pitch,
            address,
            values: Vec::new(),
        }
    }

    /// What has to be in a result.
    pub(crate) fn expect(&mut self, tensor: Tensor, values: Vec<f64>, tolerance: Tolerance) {
        assert_eq!(values.len(), tensor.rows * tensor.columns);
        self.expected.push(Expected {
            tensor,
            values,
            tolerance,
        });
    }

    /// Next parameter: a 32-bit integer.
    pub(crate) fn u32(&mut self, value: usize) {
        let value = u32::try_from(value).expect("sizes are small");
        self.parameters.push(value.to_le_bytes().to_vec());
    }

    /// Next parameter: a 64-bit integer.
    pub(crate) fn u64(&mut self, value: u64) {
        self.parameters.push(value.to_le_bytes().to_vec());
    }

    /// Next parameter: a float.
    pub(crate) fn f32(&mut self, value: f32) {
        self.parameters.push(value.to_le_bytes().to_vec());
    }

    /// Next parameter: where a matrix lies.
    pub(crate) fn pointer(&mut self, tensor: &Tensor) {
        self.u64(tensor.address);
    }

    /// Next parameter: a tensor map of a matrix, in the form that the description gives.
    pub(crate) fn map(&mut self, tensor: &Tensor) {
        let index = self.parameters.len();
        let form = self.description.parameters[index].clone();
        let form = form.unwrap_or_else(|| panic!("parameter {index} is no tensor map"));
        let size = tensor.element.bytes();
        assert_eq!(form.element.bits() as usize, 8 * size, "parameter {index}");
        let mut map = TensorMap::tiled(
            form.element,
            tensor.address,
            &[tensor.columns as u64, tensor.rows as u64],
            &[(tensor.pitch * size) as u64],
            &form.box_sizes,
        )
        .expect("two dimensions");
        map.swizzle = form.swizzle;
        self.parameters.push(map.encode().to_vec());
    }

    /// Next five parameters, as Triton and Gluon pass a descriptor: a tensor map, the sizes and
    /// the strides in elements, outermost first.
    pub(crate) fn descriptor(&mut self, tensor: &Tensor) {
        self.map(tensor);
        self.u32(tensor.rows);
        self.u32(tensor.columns);
        self.u64(tensor.pitch as u64);
        self.u64(1);
    }

    /// Last two parameters of Triton and Gluon: memory of the kernel's own, and for profiles.
    pub(crate) fn scratch(&mut self) {
        let blocks: u32 = self.grid.iter().product();
        let bytes = self.description.scratch_per_block * u64::from(blocks);
        let address = match bytes {
            0 => 0,
            bytes => self.allocate(bytes as usize, "global scratch"),
        };
        self.scratch = (bytes > 0).then_some(address);
        self.u64(address);
        self.u64(0);
    }
}
