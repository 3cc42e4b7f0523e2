//! The functions of the CUDA driver that are used, with their C types.
//!
//! Names and numbers are those of `cuda.h`, CUDA 12.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    mem::ManuallyDrop,
};

use libloading::Library;

use crate::device::DeviceError;

pub(super) type Handle = *mut c_void;
pub(super) type Status = c_int;
pub(super) type Pointer = u64;

pub(super) const SUCCESS: Status = 0;
pub(super) const NOT_READY: Status = 600;

pub(super) const JIT_ERROR_LOG_BUFFER: c_int = 5;
pub(super) const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
pub(super) const FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
pub(super) const FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: c_int = 14;
pub(super) const LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: c_int = 4;
pub(super) const STREAM_NON_BLOCKING: c_uint = 1;
pub(super) const MEMHOSTALLOC_DEVICEMAP: c_uint = 2;
pub(super) const TENSOR_MAP_INTERLEAVE_NONE: c_int = 0;
pub(super) const TENSOR_MAP_L2_PROMOTION_L2_128B: c_int = 2;

/// `CUlaunchConfig`.
#[repr(C)]
pub(super) struct LaunchConfig {
    pub(super) grid: [c_uint; 3],
    pub(super) block: [c_uint; 3],
    pub(super) shared_bytes: c_uint,
    pub(super) stream: Handle,
    pub(super) attributes: *mut LaunchAttribute,
    pub(super) attribute_count: c_uint,
}

/// `CUlaunchAttribute` with the cluster's size as the only member of its union.
#[repr(C)]
pub(super) struct LaunchAttribute {
    pub(super) id: c_int,
    /// The union starts at the next multiple of 8 bytes.
    pub(super) padding: u32,
    pub(super) cluster: [c_uint; 3],
    /// The union has 64 bytes.
    pub(super) rest: [c_uint; 13],
}

/// `CUtensorMap`.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
pub(super) struct TensorMapBits(pub(super) [u8; 128]);

/// A function of the driver with its name.
pub(super) struct Entry<F> {
    pub(super) name: &'static str,
    pub(super) function: F,
}

/// Declares the functions once: as fields with their types, and as symbols to look up.
macro_rules! driver_functions {
    ($($field:ident = $symbol:literal ($($argument:ty),* $(,)?);)*) => {
        /// The loaded driver.
        pub(super) struct Api {
            $(pub(super) $field: Entry<unsafe extern "C" fn($($argument),*) -> Status>,)*
            /// Never unloaded: the driver has threads of its own.
            _library: ManuallyDrop<Library>,
        }

        impl Api {
            /// Loads the driver and looks up all functions.
            pub(super) fn load() -> Result<Self, DeviceError> {
                // SAFETY: loading libcuda runs its initialisers, which have no preconditions.
                let library = unsafe { Library::new("libcuda.so.1") }.map_err(|_| {
                    let text = "no CUDA driver found on this machine (libcuda.so.1)";
                    DeviceError::Unavailable(text.to_owned())
                })?;
                Ok(Self {
                    $($field: {
                        // SAFETY: the type is that of the function of this name in `cuda.h`, and
                        // the library stays loaded for as long as the program runs.
                        let symbol = unsafe { library.get($symbol.as_bytes()) };
                        let function = *symbol.map_err(|_| DeviceError::Unavailable(format!(
                            "the CUDA driver of this machine has no {}; CUDA 12 or newer is needed",
                            $symbol
                        )))?;
                        Entry { name: $symbol, function }
                    },)*
                    _library: ManuallyDrop::new(library),
                })
            }
        }
    };
}

driver_functions! {
    init = "cuInit"(c_uint);
    get_error_name = "cuGetErrorName"(Status, *mut *const c_char);
    get_error_string = "cuGetErrorString"(Status, *mut *const c_char);
    device_get_count = "cuDeviceGetCount"(*mut c_int);
    device_get_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
    device_get_attribute = "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
    primary_context_retain = "cuDevicePrimaryCtxRetain"(*mut Handle, c_int);
    primary_context_release = "cuDevicePrimaryCtxRelease_v2"(c_int);
    context_set_current = "cuCtxSetCurrent"(Handle);
    module_load_data = "cuModuleLoadDataEx"(
        *mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void,
    );
    module_unload = "cuModuleUnload"(Handle);
    module_get_function = "cuModuleGetFunction"(*mut Handle, Handle, *const c_char);
    module_get_global = "cuModuleGetGlobal_v2"(*mut Pointer, *mut usize, Handle, *const c_char);
    function_set_attribute = "cuFuncSetAttribute"(Handle, c_int, c_int);
    allocate = "cuMemAlloc_v2"(*mut Pointer, usize);
    free = "cuMemFree_v2"(Pointer);
    host_allocate = "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
    host_free = "cuMemFreeHost"(*mut c_void);
    host_device_pointer = "cuMemHostGetDevicePointer_v2"(*mut Pointer, *mut c_void, c_uint);
    copy_to_device = "cuMemcpyHtoD_v2"(Pointer, *const c_void, usize);
    copy_to_host = "cuMemcpyDtoH_v2"(*mut c_void, Pointer, usize);
    copy_on_device = "cuMemcpyDtoDAsync_v2"(Pointer, Pointer, usize, Handle);
    stream_create = "cuStreamCreate"(*mut Handle, c_uint);
    stream_destroy = "cuStreamDestroy_v2"(Handle);
    stream_query = "cuStreamQuery"(Handle);
    context_synchronize = "cuCtxSynchronize"();
    event_create = "cuEventCreate"(*mut Handle, c_uint);
    event_record = "cuEventRecord"(Handle, Handle);
    event_elapsed = "cuEventElapsedTime"(*mut f32, Handle, Handle);
    event_destroy = "cuEventDestroy_v2"(Handle);
    launch_kernel = "cuLaunchKernelEx"(
        *const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void,
    );
    tensor_map_encode = "cuTensorMapEncodeTiled"(
        *mut TensorMapBits, c_int, c_uint, *mut c_void, *const u64, *const u64, *const u32,
        *const u32, c_int, c_int, c_int, c_int,
    );
}
