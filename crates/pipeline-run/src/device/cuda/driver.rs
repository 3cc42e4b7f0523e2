//! Safe wrappers around the driver's functions. All `unsafe` of this crate stands here and in
//! [`api`].
//!
//! Handles are only made by the functions below, and a wrong device address is an error that the
//! driver reports, never undefined behaviour of this process.

mod api;

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    fmt, ptr,
};

use self::api::{Api, Handle, LaunchAttribute, LaunchConfig, Status, TensorMapBits};
use crate::{
    device::{Code, DeviceError, Launch, TensorMapValue, Value},
    wait_report::WaitWords,
};

/// Bytes kept of what the driver's compiler prints.
const LOG_BYTES: usize = 16 << 10;

/// A failed call of the driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct CudaError {
    /// The function.
    pub call: &'static str,
    /// The error's name, such as `CUDA_ERROR_LAUNCH_FAILED`.
    pub name: String,
    /// The driver's sentence about it.
    pub text: String,
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.call, self.name, self.text)
    }
}

/// What can be asked about a GPU; the numbers are those of `CUdevice_attribute`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attribute {
    MultiprocessorCount = 16,
    CapabilityMajor = 75,
    CapabilityMinor = 76,
    SharedMemoryOptIn = 97,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Module(Handle);
#[derive(Debug, Clone, Copy)]
pub(super) struct Function(Handle);
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream(Handle);
#[derive(Debug, Clone, Copy)]
pub(super) struct Event(Handle);

/// Host memory that a kernel can write, of at least the size of [`WaitWords`].
#[derive(Debug)]
pub(super) struct Pinned(*mut c_void);

impl Pinned {
    /// The words at its start.
    pub(super) fn words(&self) -> WaitWords {
        // SAFETY: `allocate_pinned` made it at least this large, page-aligned and zeroed, and it
        // is alive as long as this value. Volatile, because the GPU writes it behind our back.
        unsafe { ptr::read_volatile(self.0.cast::<WaitWords>()) }
    }
}

/// The parameters of a launch: one slot for each, large and aligned enough for a tensor map. The
/// driver copies as many bytes of each as the kernel's parameter has.
#[derive(Debug)]
pub(super) struct Arguments(Vec<TensorMapBits>);

pub(super) struct Driver {
    api: Api,
}

/// Calls a function of the driver and turns its status into a result.
macro_rules! call {
    ($driver:expr, $field:ident($($argument:expr),* $(,)?)) => {{
        let driver: &Driver = $driver;
        // SAFETY: pointers among the arguments are to live values of the types that the
        // function's declaration names, with the lengths passed along; handles were made by the
        // driver.
        let status = unsafe { (driver.api.$field.function)($($argument),*) };
        driver.result(driver.api.$field.name, status)
    }};
}

impl Driver {
    pub(super) fn load() -> Result<Self, DeviceError> {
        let driver = Self { api: Api::load()? };
        call!(&driver, init(0)).map_err(|error| {
            DeviceError::Unavailable(format!("the CUDA driver does not start: {error}"))
        })?;
        Ok(driver)
    }

    fn result(&self, call: &'static str, status: Status) -> Result<(), CudaError> {
        if status == api::SUCCESS {
            return Ok(());
        }
        Err(CudaError {
            call,
            name: self.status_text(self.api.get_error_name.function, status),
            text: self.status_text(self.api.get_error_string.function, status),
        })
    }

    fn status_text(
        &self,
        function: unsafe extern "C" fn(Status, *mut *const c_char) -> Status,
        status: Status,
    ) -> String {
        let mut text = ptr::null();
        // SAFETY: `text` is a live place for one pointer.
        let found = unsafe { function(status, &raw mut text) };
        if found != api::SUCCESS || text.is_null() {
            return format!("error {status}");
        }
        // SAFETY: on success the driver gives a static string that ends with 0.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_string_lossy().into_owned()
    }

    pub(super) fn device_count(&self) -> Result<i32, CudaError> {
        let mut count = 0;
        call!(self, device_get_count(&raw mut count))?;
        Ok(count)
    }

    pub(super) fn device_name(&self, ordinal: i32) -> Result<String, CudaError> {
        let mut name = [0u8; 128];
        // The last byte stays 0 whatever the driver writes.
        call!(
            self,
            device_get_name(name.as_mut_ptr().cast(), 127, ordinal)
        )?;
        let text = CStr::from_bytes_until_nul(&name);
        Ok(text.map_or_else(|_| String::new(), |t| t.to_string_lossy().into_owned()))
    }

    pub(super) fn attribute(&self, ordinal: i32, which: Attribute) -> Result<i32, CudaError> {
        let mut value = 0;
        call!(
            self,
            device_get_attribute(&raw mut value, which as c_int, ordinal)
        )?;
        Ok(value)
    }

    /// Makes the GPU's primary context current on this thread.
    pub(super) fn retain_context(&self, ordinal: i32) -> Result<(), CudaError> {
        let mut context = ptr::null_mut();
        call!(self, primary_context_retain(&raw mut context, ordinal))?;
        call!(self, context_set_current(context))
    }

    pub(super) fn release_context(&self, ordinal: i32) {
        // Nothing can be done about an error here, nor in the other functions that give back.
        let _ = call!(self, primary_context_release(ordinal));
    }

    pub(super) fn load_module(&self, code: &Code) -> Result<Module, DeviceError> {
        let mut log = vec![0u8; LOG_BYTES];
        let mut options = [
            api::JIT_ERROR_LOG_BUFFER,
            api::JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // The driver takes the size as a pointer's value, and writes the length used over it.
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            ptr::without_provenance_mut(LOG_BYTES - 1),
        ];
        let image = match code {
            Code::Ptx(text) => {
                let mut text = text.clone();
                text.push(0);
                text
            }
            Code::Cubin(bytes) => bytes.clone(),
        };
        let mut module = ptr::null_mut();
        let loaded = call!(
            self,
            module_load_data(
                &raw mut module,
                image.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        );
        let printed = CStr::from_bytes_until_nul(&log).unwrap_or_default();
        loaded.map_err(|error| DeviceError::Code {
            error,
            log: printed.to_string_lossy().trim().to_owned(),
        })?;
        Ok(Module(module))
    }

    pub(super) fn unload(&self, module: Module) {
        let _ = call!(self, module_unload(module.0));
    }

    pub(super) fn function(&self, module: Module, name: &str) -> Result<Function, CudaError> {
        let name = c_string(name);
        let mut function = ptr::null_mut();
        call!(
            self,
            module_get_function(&raw mut function, module.0, name.as_ptr())
        )?;
        Ok(Function(function))
    }

    /// The address of a global that begins with one address.
    pub(super) fn global(&self, module: Module, name: &str) -> Result<u64, DeviceError> {
        let c_name = c_string(name);
        let (mut address, mut bytes) = (0, 0);
        call!(
            self,
            module_get_global(&raw mut address, &raw mut bytes, module.0, c_name.as_ptr())
        )?;
        if bytes < size_of::<u64>() {
            return Err(DeviceError::Unsupported(format!(
                "the module's global `{name}` has {bytes} bytes, expected 8 or more"
            )));
        }
        Ok(address)
    }

    pub(super) fn allow_shared_memory(
        &self,
        function: Function,
        bytes: u32,
    ) -> Result<(), CudaError> {
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        let attribute = api::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        call!(self, function_set_attribute(function.0, attribute, bytes))
    }

    pub(super) fn allow_large_clusters(&self, function: Function) -> Result<(), CudaError> {
        let attribute = api::FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
        call!(self, function_set_attribute(function.0, attribute, 1))
    }

    pub(super) fn allocate(&self, bytes: usize) -> Result<u64, CudaError> {
        let mut address = 0;
        // The driver refuses to allocate nothing.
        call!(self, allocate(&raw mut address, bytes.max(1)))?;
        Ok(address)
    }

    pub(super) fn free(&self, address: u64) {
        let _ = call!(self, free(address));
    }

    /// Zeroed host memory and its address on the device.
    pub(super) fn allocate_pinned(&self, bytes: usize) -> Result<(Pinned, u64), CudaError> {
        let bytes = bytes.max(size_of::<WaitWords>());
        let mut host = ptr::null_mut();
        call!(
            self,
            host_allocate(&raw mut host, bytes, api::MEMHOSTALLOC_DEVICEMAP)
        )?;
        // SAFETY: the driver has just allocated this many bytes there.
        unsafe { ptr::write_bytes(host.cast::<u8>(), 0, bytes) };
        let pinned = Pinned(host);
        let mut address = 0;
        match call!(self, host_device_pointer(&raw mut address, host, 0)) {
            Ok(()) => Ok((pinned, address)),
            Err(error) => {
                self.free_pinned(pinned);
                Err(error)
            }
        }
    }

    pub(super) fn free_pinned(&self, pinned: Pinned) {
        let _ = call!(self, host_free(pinned.0));
    }

    /// Copies to the device and waits until the data is there. The copy is made on the default
    /// stream and launches on another, which does not wait for it by itself.
    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> Result<(), CudaError> {
        call!(
            self,
            copy_to_device(address, bytes.as_ptr().cast(), bytes.len())
        )?;
        call!(self, context_synchronize())
    }

    pub(super) fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), CudaError> {
        call!(
            self,
            copy_to_host(bytes.as_mut_ptr().cast(), address, bytes.len())
        )
    }

    pub(super) fn copy(
        &self,
        to: u64,
        from: u64,
        bytes: usize,
        stream: Stream,
    ) -> Result<(), CudaError> {
        call!(self, copy_on_device(to, from, bytes, stream.0))
    }

    pub(super) fn create_stream(&self) -> Result<Stream, CudaError> {
        let mut stream = ptr::null_mut();
        call!(
            self,
            stream_create(&raw mut stream, api::STREAM_NON_BLOCKING)
        )?;
        Ok(Stream(stream))
    }

    pub(super) fn destroy_stream(&self, stream: Stream) {
        let _ = call!(self, stream_destroy(stream.0));
    }

    pub(super) fn stream_is_done(&self, stream: Stream) -> Result<bool, CudaError> {
        // SAFETY: the stream was made by the driver and is destroyed only with the device.
        let status = unsafe { (self.api.stream_query.function)(stream.0) };
        if status == api::NOT_READY {
            return Ok(false);
        }
        self.result(self.api.stream_query.name, status)
            .map(|()| true)
    }

    pub(super) fn create_event(&self) -> Result<Event, CudaError> {
        let mut event = ptr::null_mut();
        call!(self, event_create(&raw mut event, 0))?;
        Ok(Event(event))
    }

    pub(super) fn record(&self, event: Event, stream: Stream) -> Result<(), CudaError> {
        call!(self, event_record(event.0, stream.0))
    }

    /// Milliseconds between two recorded events.
    pub(super) fn elapsed(&self, from: Event, to: Event) -> Result<f32, CudaError> {
        let mut milliseconds = 0.0;
        call!(self, event_elapsed(&raw mut milliseconds, from.0, to.0))?;
        Ok(milliseconds)
    }

    pub(super) fn destroy_event(&self, event: Event) {
        let _ = call!(self, event_destroy(event.0));
    }

    /// Encodes the tensor maps of a launch, so that nothing but the launch itself is left to do.
    pub(super) fn prepare(&self, launch: &Launch) -> Result<Arguments, CudaError> {
        let mut slots = Vec::new();
        for value in &launch.parameters {
            slots.push(match value {
                Value::Plain(bytes) => {
                    let mut slot = [0; 128];
                    slot[..8].copy_from_slice(bytes);
                    TensorMapBits(slot)
                }
                Value::TensorMap(map) => self.encode(map)?,
            });
        }
        Ok(Arguments(slots))
    }

    pub(super) fn launch(
        &self,
        function: Function,
        stream: Stream,
        launch: &Launch,
        arguments: &Arguments,
    ) -> Result<(), CudaError> {
        // The driver only reads through these pointers; its declaration lacks the `const`.
        let mut parameters: Vec<*mut c_void> = arguments
            .0
            .iter()
            .map(|slot| ptr::from_ref(slot).cast_mut().cast())
            .collect();
        let mut attribute = LaunchAttribute {
            id: api::LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            padding: 0,
            cluster: launch.cluster.unwrap_or([1; 3]),
            rest: [0; 13],
        };
        let config = LaunchConfig {
            grid: launch.grid,
            block: launch.block,
            shared_bytes: launch.dynamic_shared_bytes,
            stream: stream.0,
            attributes: &raw mut attribute,
            attribute_count: c_uint::from(launch.cluster.is_some()),
        };
        let (parameters, extra) = (parameters.as_mut_ptr(), ptr::null_mut());
        call!(
            self,
            launch_kernel(&raw const config, function.0, parameters, extra)
        )
    }

    /// Encodes a tensor map; the driver wants the innermost dimension first.
    fn encode(&self, map: &TensorMapValue) -> Result<TensorMapBits, CudaError> {
        let mut bits = TensorMapBits([0; 128]);
        let sizes = reversed(&map.sizes);
        let strides = reversed(&map.outer_strides);
        let box_shape = reversed(&map.box_shape);
        let element_strides = reversed(&map.element_strides);
        call!(
            self,
            tensor_map_encode(
                &raw mut bits,
                map.element.driver_code().cast_signed(),
                c_uint::try_from(sizes.len()).unwrap_or(0),
                // An address on the device, which is never dereferenced here.
                ptr::without_provenance_mut(usize::try_from(map.address).unwrap_or(0)),
                sizes.as_ptr(),
                strides.as_ptr(),
                box_shape.as_ptr(),
                element_strides.as_ptr(),
                api::TENSOR_MAP_INTERLEAVE_NONE,
                map.swizzle.driver_code().cast_signed(),
                api::TENSOR_MAP_L2_PROMOTION_L2_128B,
                map.fill.driver_code().cast_signed(),
            )
        )?;
        Ok(bits)
    }
}

fn reversed<T: Copy>(list: &[T]) -> Vec<T> {
    list.iter().rev().copied().collect()
}

/// Names come from JSON and may hold a 0; cut there, the driver does not find them and says so.
fn c_string(text: &str) -> CString {
    let name = text.split('\0').next().unwrap_or("");
    CString::new(name).unwrap_or_default()
}

/// Ends the process at once, without the driver's exit handlers: they wait for kernels, and this
/// is called when one never ends.
pub fn exit_immediately(code: u8) -> ! {
    unsafe extern "C" {
        fn _exit(code: c_int) -> !;
    }
    // SAFETY: POSIX's `_exit` takes any number and does not return.
    unsafe { _exit(c_int::from(code)) }
}
