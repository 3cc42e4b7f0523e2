//! An NVIDIA GPU through the CUDA driver, which is loaded when the program runs.

mod driver;

use std::{
    thread,
    time::{Duration, Instant},
};

use ptx_model::manifest::Kernel;

use self::driver::{Attribute, Driver, Event, Function, Module, Pinned, Stream};
use super::{Buffer, Code, Device, DeviceError, Launch, Launched, Memory, Runs};
use crate::wait_report::WaitWords;

pub use self::driver::{CudaError, exit_immediately};

/// The most blocks per cluster that every GPU with clusters has; more must be asked for.
const PORTABLE_CLUSTER: u32 = 8;

/// After what time a kernel counts as hanging, unless said otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);

/// Whether this machine has a GPU and a driver for it that starts.
pub fn is_present() -> bool {
    Driver::load().is_ok_and(|driver| driver.device_count().is_ok_and(|count| count > 0))
}

/// A GPU with its context and one loaded kernel.
///
/// After a failed launch the context is lost, and after a timeout the kernel still runs. In both
/// cases nothing is given back: those calls would fail, or wait for ever.
pub struct CudaDevice {
    driver: Driver,
    ordinal: i32,
    stream: Stream,
    name: String,
    capability: (i32, i32),
    sm_count: u32,
    loaded: Option<Loaded>,
    buffers: Vec<Option<Allocation>>,
    usable: bool,
}

struct Loaded {
    module: Module,
    function: Function,
    report: Option<Pinned>,
}

struct Allocation {
    address: u64,
    bytes: usize,
}

impl CudaDevice {
    /// Opens the GPU with this number.
    ///
    /// # Errors
    /// No driver, no such GPU, or a driver that fails to start.
    pub fn open(ordinal: u32) -> Result<Self, DeviceError> {
        let driver = Driver::load()?;
        let count = driver.device_count()?;
        let ordinal = match i32::try_from(ordinal) {
            Ok(ordinal) if ordinal < count => ordinal,
            _ => {
                return Err(DeviceError::Unavailable(format!(
                    "there is no GPU number {ordinal}; the driver knows {count}"
                )));
            }
        };
        driver.retain_context(ordinal)?;
        let attribute = |which| driver.attribute(ordinal, which);
        let sm_count = attribute(Attribute::MultiprocessorCount)?;
        Ok(Self {
            ordinal,
            stream: driver.create_stream()?,
            name: driver.device_name(ordinal)?,
            capability: (
                attribute(Attribute::CapabilityMajor)?,
                attribute(Attribute::CapabilityMinor)?,
            ),
            sm_count: u32::try_from(sm_count).unwrap_or(0),
            loaded: None,
            buffers: Vec::new(),
            usable: true,
            driver,
        })
    }

    fn unload(&mut self) {
        let Some(loaded) = self.loaded.take() else {
            return;
        };
        self.driver.unload(loaded.module);
        if let Some(report) = loaded.report {
            self.driver.free_pinned(report);
        }
    }

    fn function(&self) -> Result<Function, DeviceError> {
        let loaded = self.loaded.as_ref().map(|loaded| loaded.function);
        loaded.ok_or_else(|| DeviceError::Unsupported("no kernel is loaded".to_owned()))
    }

    /// Waits for the stream. A plain synchronisation would wait for ever on a kernel that hangs,
    /// and kernels that hang are what this program is for.
    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), DeviceError> {
        let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
        let start = Instant::now();
        loop {
            match self.driver.stream_is_done(self.stream) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => {
                    self.usable = false;
                    return Err(DeviceError::Kernel(error));
                }
            }
            let waited = start.elapsed();
            if waited > timeout {
                self.usable = false;
                return Err(DeviceError::Timeout(timeout));
            }
            // Short kernels should not wait for the scheduler, long ones not burn a core.
            if waited > Duration::from_millis(2) {
                thread::sleep(Duration::from_micros(200));
            }
        }
    }

    /// Milliseconds of each measured run of `submit`, from a pair of events around every one.
    fn time(
        &mut self,
        runs: Runs,
        timeout: Option<Duration>,
        submit: impl Fn(&Self) -> Result<(), DeviceError>,
    ) -> Result<Vec<f64>, DeviceError> {
        for _ in 0..runs.warm_up {
            submit(self)?;
        }
        self.wait(timeout)?;
        let mut pairs: Vec<(Event, Event)> = Vec::new();
        for _ in 0..runs.iterations {
            pairs.push((self.driver.create_event()?, self.driver.create_event()?));
        }
        // Nothing but the three submissions in this loop: what the host does between them would
        // be measured where the GPU has nothing else to do.
        for (before, after) in &pairs {
            self.driver.record(*before, self.stream)?;
            submit(self)?;
            self.driver.record(*after, self.stream)?;
        }
        self.wait(timeout)?;
        let mut times = Vec::new();
        for (before, after) in pairs {
            times.push(f64::from(self.driver.elapsed(before, after)?));
            self.driver.destroy_event(before);
            self.driver.destroy_event(after);
        }
        Ok(times)
    }
}

impl Device for CudaDevice {
    fn describe(&self) -> String {
        let (major, minor) = self.capability;
        let sms = self.sm_count;
        format!(
            "{}, compute capability {major}.{minor}, {sms} SMs",
            self.name
        )
    }

    fn target(&self) -> Option<&'static str> {
        match self.capability {
            (8, _) => Some("sm_80"),
            (9, 0) => Some("sm_90a"),
            (10, 0) => Some("sm_100a"),
            _ => None,
        }
    }

    fn sm_count(&self) -> u32 {
        self.sm_count
    }

    fn load(&mut self, code: &Code, kernel: &Kernel) -> Result<(), DeviceError> {
        self.unload();
        let module = self.driver.load_module(code)?;
        // Kept from here on, so that an error below does not leak it.
        let function = match self.driver.function(module, &kernel.name) {
            Ok(function) => function,
            Err(error) => {
                self.driver.unload(module);
                return Err(error.into());
            }
        };
        self.loaded = Some(Loaded {
            module,
            function,
            report: None,
        });
        let most = self
            .driver
            .attribute(self.ordinal, Attribute::SharedMemoryOptIn)?;
        if i64::from(kernel.dynamic_shared_bytes) > i64::from(most) {
            return Err(DeviceError::Unsupported(format!(
                "kernel `{}` needs {} bytes of shared memory, the GPU has {most}",
                kernel.name, kernel.dynamic_shared_bytes
            )));
        }
        self.driver
            .allow_shared_memory(function, kernel.dynamic_shared_bytes)?;
        let cluster = kernel.cluster.map_or(1, |c| c.iter().product::<u32>());
        if cluster > PORTABLE_CLUSTER {
            self.driver.allow_large_clusters(function)?;
        }
        if let Some(report) = &kernel.wait_report {
            let bytes = usize::try_from(report.bytes).unwrap_or(0);
            let (pinned, address) = self.driver.allocate_pinned(bytes)?;
            // Stored first, so that it is given back whatever happens next.
            if let Some(loaded) = &mut self.loaded {
                loaded.report = Some(pinned);
            }
            let global = self.driver.global(module, &report.symbol)?;
            self.driver.write(global, &address.to_le_bytes())?;
        }
        Ok(())
    }

    fn allocate(&mut self, memory: &Memory<'_>) -> Result<Buffer, DeviceError> {
        self.allocate_bytes(memory.bytes)
    }

    fn address(&self, buffer: Buffer) -> u64 {
        let allocation = self.buffers.get(buffer.0).and_then(Option::as_ref);
        allocation.map_or(0, |allocation| allocation.address)
    }

    fn write(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<(), DeviceError> {
        let address = self.checked_address(buffer, bytes.len())?;
        Ok(self.driver.write(address, bytes)?)
    }

    fn read(&mut self, buffer: Buffer, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let address = self.checked_address(buffer, bytes.len())?;
        Ok(self.driver.read(address, bytes)?)
    }

    fn free(&mut self, buffer: Buffer) {
        let slot = self.buffers.get_mut(buffer.0);
        let allocation = slot.and_then(Option::take);
        if let Some(allocation) = allocation
            && self.usable
        {
            self.driver.free(allocation.address);
        }
    }

    fn launch(
        &mut self,
        launch: &Launch,
        _schedule: u64,
        timeout: Option<Duration>,
    ) -> Result<Launched, DeviceError> {
        let arguments = self.driver.prepare(launch)?;
        let function = self.function()?;
        self.driver
            .launch(function, self.stream, launch, &arguments)?;
        self.wait(timeout)?;
        Ok(Launched::default())
    }

    fn time_launches(
        &mut self,
        launch: &Launch,
        runs: Runs,
        timeout: Option<Duration>,
    ) -> Result<Vec<f64>, DeviceError> {
        let function = self.function()?;
        let arguments = self.driver.prepare(launch)?;
        self.time(runs, timeout, |device| {
            let stream = device.stream;
            Ok(device.driver.launch(function, stream, launch, &arguments)?)
        })
    }

    fn time_copies(
        &mut self,
        bytes: usize,
        runs: Runs,
        timeout: Option<Duration>,
    ) -> Result<Vec<f64>, DeviceError> {
        let (from, to) = (self.allocate_bytes(bytes)?, self.allocate_bytes(bytes)?);
        let (source, destination) = (self.address(from), self.address(to));
        let times = self.time(runs, timeout, |device| {
            let stream = device.stream;
            Ok(device.driver.copy(destination, source, bytes, stream)?)
        });
        self.free(from);
        self.free(to);
        times
    }

    fn wait_report(&self) -> Option<WaitWords> {
        let report = self.loaded.as_ref()?.report.as_ref()?;
        Some(report.words())
    }
}

impl CudaDevice {
    fn allocate_bytes(&mut self, bytes: usize) -> Result<Buffer, DeviceError> {
        let address = self.driver.allocate(bytes)?;
        self.buffers.push(Some(Allocation { address, bytes }));
        Ok(Buffer(self.buffers.len() - 1))
    }

    fn checked_address(&self, buffer: Buffer, bytes: usize) -> Result<u64, DeviceError> {
        match self.buffers.get(buffer.0) {
            Some(Some(allocation)) if bytes <= allocation.bytes => Ok(allocation.address),
            _ => Err(DeviceError::Unsupported(format!(
                "a transfer of {bytes} bytes does not fit its buffer"
            ))),
        }
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        if !self.usable {
            return;
        }
        for allocation in self.buffers.iter().flatten() {
            self.driver.free(allocation.address);
        }
        self.unload();
        self.driver.destroy_stream(self.stream);
        self.driver.release_context(self.ordinal);
    }
}
