//! Storage, copies, loads and stores.

use super::{
    Accumulator, Axis, Buffer, BuildError, BuildProblem, Element, Global, Index, KernelBuilder,
    Shape, Storage, Tensor, Value, ValueType, Window,
    handle::{Id, accumulator_type, buffer_type},
    types::{MAX_RANK, check_tile, dimension_of, range},
};

impl KernelBuilder {
    /// The number of this block along an axis of the grid.
    pub fn block_id(&mut self, axis: Axis) -> Index {
        let id = self.result(&format!("gpu.block_id {}", axis.letter()));
        Index { id }
    }

    /// The number of blocks along an axis of the grid.
    pub fn grid_dim(&mut self, axis: Axis) -> Index {
        let id = self.result(&format!("gpu.grid_dim {}", axis.letter()));
        Index { id }
    }

    /// An extent of a tensor, in elements; dimension 0 is the outermost.
    ///
    /// # Errors
    /// A dimension that the tensor does not have.
    pub fn dim(&mut self, tensor: Tensor, dimension: usize) -> Result<Index, BuildError> {
        let name = self.used(tensor.id)?;
        if dimension >= tensor.rank {
            return self.wrong(dimension_of(tensor.rank, dimension));
        }
        let number = self.index(dimension as i64);
        let number = self.used(number.id)?;
        let ty = self.global_type(&tensor.into())?;
        let id = self.result(&format!("memref.dim {name}, {number} : {ty}"));
        Ok(Index { id })
    }

    /// A tile in shared memory, undefined until it is filled. The name stands in reports and
    /// the manifest.
    ///
    /// # Errors
    /// A name that is empty or has other characters than letters, digits, `_`, `-` and `.`; no
    /// extent or more than five; more than 2^28 bytes; elements of index or fewer than 8 bits.
    pub fn buffer(
        &mut self,
        name: &str,
        element: Element,
        extents: &[u64],
    ) -> Result<Buffer, BuildError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || !name.chars().all(plain) {
            return self.wrong(BuildProblem::BufferName(name.to_owned()));
        }
        self.located(check_tile(extents, element))?;
        let mut padded = [1; MAX_RANK];
        for (known, extent) in padded.iter_mut().zip(extents) {
            *known = *extent;
        }
        let ty = buffer_type(extents, element);
        Ok(Buffer {
            id: self.result(&format!("async_pipeline.tile.alloc \"{name}\" : {ty}")),
            element,
            rank: extents.len(),
            extents: padded,
        })
    }

    /// An M×N tile of f32 that products are added to; full of zeros here, each time.
    ///
    /// # Errors
    /// Extents of 0, or more than 2^28 bytes.
    pub fn accumulator(&mut self, rows: u64, columns: u64) -> Result<Accumulator, BuildError> {
        let extents = [rows, columns];
        self.located(check_tile(&extents, Element::F32))?;
        let ty = accumulator_type(extents);
        Ok(Accumulator {
            id: self.result(&format!("async_pipeline.tile.accumulator : {ty}")),
            extents,
        })
    }

    /// A part of global memory with its own bounds: element 0 of the window is that of the
    /// base at `indices`, and what lies beyond `sizes` or outside the base is outside.
    ///
    /// # Errors
    /// Not one index and one size per dimension.
    pub fn window(
        &mut self,
        base: impl Into<Global>,
        indices: &[Index],
        sizes: &[Index],
    ) -> Result<Window, BuildError> {
        let base = base.into();
        let (at, from) = (self.place_in(&base, indices)?, self.global_type(&base)?);
        self.count("sizes", base.rank(), sizes.len())?;
        let sizes = self.used_all(sizes.iter().map(|size| size.id))?.join(", ");
        let (element, rank) = (base.element(), base.rank());
        let ty = window_type(element, rank);
        let id = self.result(&format!(
            "async_pipeline.tile.window {at} sizes [{sizes}] : {from} to {ty}"
        ));
        Ok(Window { id, element, rank })
    }

    /// Copies a tile from global memory into a buffer, all of it; what lies outside the
    /// tensor reads as zero. The tile lies along the last dimensions, its first element at the
    /// indices.
    ///
    /// # Errors
    /// Other element types, fewer dimensions than the buffer has, not one index per dimension.
    pub fn copy_in(
        &mut self,
        source: impl Into<Global>,
        indices: &[Index],
        target: Buffer,
    ) -> Result<(), BuildError> {
        let source = source.into();
        let (at, from) = self.tile_in(&source, indices, target.element, target.rank)?;
        let (buffer, to) = (self.used(target.id)?, target.type_text());
        self.op(&format!(
            "async_pipeline.work.copy {at} to {buffer} : {from} to {to}"
        ));
        Ok(())
    }

    /// Copies a buffer to global memory; elements outside the tensor are not written.
    ///
    /// # Errors
    /// As for [`copy_in`](Self::copy_in).
    pub fn copy_out(
        &mut self,
        source: Buffer,
        target: impl Into<Global>,
        indices: &[Index],
    ) -> Result<(), BuildError> {
        let target = target.into();
        let (at, to) = self.tile_in(&target, indices, source.element, source.rank)?;
        let (buffer, from) = (self.used(source.id)?, source.type_text());
        self.op(&format!(
            "async_pipeline.work.copy {buffer} to {at} : {from} to {to}"
        ));
        Ok(())
    }

    /// Reads a whole buffer or accumulator; an accumulator is rounded to f32 here.
    ///
    /// # Errors
    /// A buffer that is too large for registers, or of other extents than powers of two.
    pub fn load(&mut self, storage: impl Into<Storage>) -> Result<Value, BuildError> {
        let (id, text, ty) = self.storage(&storage.into())?;
        let ty = self.located(ty.check())?;
        let name = self.used(id)?;
        Ok(self.valued(
            &format!("async_pipeline.work.load {name} : {text} to {ty}"),
            ty,
        ))
    }

    /// Fills a buffer or accumulator with a value of its shape and element type.
    ///
    /// # Errors
    /// A value of another type.
    pub fn store(&mut self, value: Value, storage: impl Into<Storage>) -> Result<(), BuildError> {
        let (id, text, ty) = self.storage(&storage.into())?;
        self.same_type(ty, value)?;
        let (from, to) = (self.used(value.id)?, self.used(id)?);
        self.op(&format!(
            "async_pipeline.work.store {from} to {to} : {ty} to {text}"
        ));
        Ok(())
    }

    /// Reads a tile of global memory along its last dimensions, its first element at the
    /// indices; elements outside are `fill`, a scalar of the element type, or zero without it.
    ///
    /// # Errors
    /// A shape that registers do not hold or of more dimensions than the memory has, not one
    /// index per dimension, a fill value of another type.
    pub fn load_global(
        &mut self,
        source: impl Into<Global>,
        indices: &[Index],
        shape: impl Into<Shape>,
        fill: Option<Value>,
    ) -> Result<Value, BuildError> {
        let source = source.into();
        let ty = self.located(ValueType::new(source.element(), shape).check())?;
        self.vector(ty)?;
        let rank = ty.shape().extents().len();
        let (at, from) = self.tile_in(&source, indices, source.element(), rank)?;
        let mut with = String::new();
        if let Some(fill) = fill {
            let element = source.element();
            self.same_type(element.into(), fill)?;
            with = format!(" fill({} : {element})", self.used(fill.id)?);
        }
        Ok(self.valued(
            &format!("async_pipeline.work.load {at}{with} : {from} to {ty}"),
            ty,
        ))
    }

    /// Writes a tile to global memory; elements outside are not written.
    ///
    /// # Errors
    /// A scalar, another element type, more dimensions than the memory has, not one index per
    /// dimension.
    pub fn store_global(
        &mut self,
        value: Value,
        target: impl Into<Global>,
        indices: &[Index],
    ) -> Result<(), BuildError> {
        self.write(value, target.into(), indices, "")
    }

    /// Adds each element of a tile to what is there, atomically: in which order blocks add is
    /// not defined. Elements are f16, bf16, f32, i32 or i64.
    ///
    /// # Errors
    /// As for [`store_global`](Self::store_global), and other elements.
    pub fn add_global(
        &mut self,
        value: Value,
        target: impl Into<Global>,
        indices: &[Index],
    ) -> Result<(), BuildError> {
        match value.element() {
            Element::F16 | Element::BF16 | Element::F32 | Element::Int(32 | 64) => {}
            got => {
                return self.wrong(BuildProblem::Elements {
                    what: "additions in memory",
                    allowed: "f16, bf16, f32, i32 or i64",
                    got,
                });
            }
        }
        self.write(value, target.into(), indices, " reduce add")
    }

    /// Reads one element of a tensor. The indices have to lie inside it.
    ///
    /// # Errors
    /// Not one index per dimension.
    pub fn load_scalar(&mut self, tensor: Tensor, indices: &[Index]) -> Result<Value, BuildError> {
        let global = tensor.into();
        let (at, from) = (self.place_in(&global, indices)?, self.global_type(&global)?);
        Ok(self.valued(&format!("memref.load {at} : {from}"), tensor.element.into()))
    }

    fn write(
        &mut self,
        value: Value,
        target: Global,
        indices: &[Index],
        how: &str,
    ) -> Result<(), BuildError> {
        self.vector(value.ty)?;
        let rank = value.shape().extents().len();
        let (at, to) = self.tile_in(&target, indices, value.element(), rank)?;
        let (from, ty) = (self.used(value.id)?, value.ty);
        self.op(&format!(
            "async_pipeline.work.store {from} to {at}{how} : {ty} to {to}"
        ));
        Ok(())
    }

    /// `%A[%i, %j]`
    fn place_in(&self, global: &Global, indices: &[Index]) -> Result<String, BuildError> {
        self.count("indices", global.rank(), indices.len())?;
        let name = self.used(global.id())?;
        let indices = self.used_all(indices.iter().map(|index| index.id))?;
        Ok(format!("{name}[{}]", indices.join(", ")))
    }

    /// A tile's place in global memory, and the memory's type.
    fn tile_in(
        &self,
        global: &Global,
        indices: &[Index],
        element: Element,
        rank: usize,
    ) -> Result<(String, String), BuildError> {
        if global.element() != element {
            return self.wrong(BuildProblem::Element {
                expected: global.element(),
                got: element,
            });
        }
        let most = global.rank() as u64;
        self.located(range("dimensions of a tile", rank as u64, 1, most))?;
        Ok((self.place_in(global, indices)?, self.global_type(global)?))
    }

    fn global_type(&self, global: &Global) -> Result<String, BuildError> {
        match global {
            Global::Window(window) => Ok(window_type(window.element, window.rank)),
            // Handles of other builders do not get here, but for that they are asked.
            Global::Tensor(tensor) => match self.arguments.get(tensor.argument as usize) {
                Some(argument) => Ok(argument.ty.clone()),
                None => self.wrong(BuildProblem::Foreign),
            },
        }
    }

    /// Handle, type and the type of the value of a whole storage.
    fn storage(&self, storage: &Storage) -> Result<(Id, String, ValueType), BuildError> {
        match storage {
            Storage::Accumulator(accumulator) => Ok((
                accumulator.id,
                accumulator.type_text(),
                ValueType::new(Element::F32, accumulator.extents),
            )),
            Storage::Buffer(buffer) => {
                let shape = match *buffer.extents() {
                    [extent] => Shape::from([extent]),
                    [rows, columns] => Shape::from([rows, columns]),
                    _ => {
                        let rank = buffer.rank as u64;
                        self.located(range("dimensions of a register value", rank, 1, 2))?;
                        Shape::SCALAR
                    }
                };
                let ty = ValueType::new(buffer.element, shape);
                Ok((buffer.id, buffer.type_text(), ty))
            }
        }
    }

    fn vector(&self, ty: ValueType) -> Result<(), BuildError> {
        let rank = ty.shape().extents().len() as u64;
        self.located(range("dimensions of a tile", rank, 1, 2))
    }

    pub(super) fn same_type(&self, expected: ValueType, value: Value) -> Result<(), BuildError> {
        if value.ty == expected {
            return Ok(());
        }
        self.wrong(BuildProblem::Type {
            expected,
            got: value.ty,
        })
    }

    fn count(&self, what: &'static str, expected: usize, got: usize) -> Result<(), BuildError> {
        if expected == got {
            return Ok(());
        }
        self.wrong(BuildProblem::Count {
            what,
            expected,
            got,
        })
    }
}

fn window_type(element: Element, rank: usize) -> String {
    format!("!async_pipeline.window<{}{element}>", "?x".repeat(rank))
}
