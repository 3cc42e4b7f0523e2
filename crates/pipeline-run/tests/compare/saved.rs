//! Launches that were saved with what the emulator made of them.

use std::{fs, path::Path, time::Duration};

use pipeline_run::device::{Code, Device, Launch, Memory, TensorMapValue, Value};
use ptx_model::manifest::{ElementType, Fill, Manifest, Swizzle};
use serde_json::Value as Json;

/// A launch, the bytes of its buffers before it, and after it on the emulator.
pub(crate) struct Saved {
    pub(crate) name: String,
    document: Json,
    code: Code,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// All launches of a folder that a GPU of compute capability 9.0 can run, by name.
pub(crate) fn all(folder: &Path) -> Vec<Saved> {
    let mut list = Vec::new();
    for file in fs::read_dir(folder).expect("a folder").flatten() {
        let path = file.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if name.contains("sm100") {
            continue;
        }
        let read = |extension| fs::read(path.with_extension(extension)).expect("can be read");
        list.push(Saved {
            document: serde_json::from_slice(&read("json")).expect("JSON"),
            // A driver may be older than the PTX; `ptxas -arch=sm_90` (`sm_90a`) has made a
            // binary of it then.
            code: match fs::read(path.with_extension("cubin")) {
                Ok(binary) => Code::Cubin(binary),
                Err(_) => Code::Ptx(read("ptx")),
            },
            before: read("before"),
            after: read("after"),
            name,
        });
    }
    list.sort_by(|a, b| a.name.cmp(&b.name));
    list
}

fn numbers(value: &Json) -> Vec<u64> {
    let list = value.as_array().expect("a list").iter();
    list.map(|number| number.as_u64().expect("a number"))
        .collect()
}

fn sizes(value: &Json) -> [u32; 3] {
    let list = numbers(value);
    std::array::from_fn(|axis| list[axis] as u32)
}

impl Saved {
    fn buffers(&self) -> Vec<(String, usize)> {
        let list = self.document["buffers"].as_array().expect("buffers").iter();
        list.map(|buffer| {
            let name = buffer["name"].as_str().expect("a name").to_owned();
            (name, buffer["bytes"].as_u64().expect("bytes") as usize)
        })
        .collect()
    }

    /// Runs it; the bytes of all buffers afterwards.
    pub(crate) fn run(&self, device: &mut dyn Device) -> Result<Vec<u8>, String> {
        let entry = self.document["entry"].as_str().expect("a name");
        let [x, y, z] = sizes(&self.document["block"]);
        let cluster = sizes(&self.document["cluster"]);
        let shared = self.document["dynamic_shared_bytes"]
            .as_u64()
            .expect("bytes");
        let clusters = if cluster == [1, 1, 1] {
            "null".to_owned()
        } else {
            format!("{cluster:?}")
        };
        let manifest = format!(
            r#"{{"schema_version":1,"target":"sm_90a","ptx_version":"8.6","kernels":[{{
              "name":"{entry}","block":[{x},{y},{z}],"cluster":{clusters},"grid":null,
              "dynamic_shared_bytes":{shared},"arguments":[],"parameters":[],"roles":[],
              "channels":[],"barriers":[],"registers_per_warpgroup":null,"wait_report":null}}]}}"#
        );
        let manifest = Manifest::from_json(&manifest).map_err(|e| e.to_string())?;
        let said = |error: pipeline_run::device::DeviceError| error.to_string();
        device
            .load(&self.code, &manifest.kernels[0])
            .map_err(said)?;
        let mut buffers = Vec::new();
        let mut at = 0;
        for (name, bytes) in self.buffers() {
            let memory = Memory {
                name: &name,
                bytes: bytes.max(1),
                accessible: 0..bytes.max(1),
            };
            let buffer = device.allocate(&memory).map_err(said)?;
            device
                .write(buffer, &self.before[at..at + bytes])
                .map_err(said)?;
            at += bytes;
            buffers.push((buffer, bytes));
        }
        let mut parameters = Vec::new();
        for parameter in self.document["parameters"].as_array().expect("parameters") {
            let address = parameter["buffer"].as_u64().map(|index| {
                let offset = parameter["offset"].as_u64().expect("an offset");
                device.address(buffers[index as usize].0) + offset
            });
            parameters.push(match address {
                Some(address) if parameter["map"].is_object() => {
                    Value::TensorMap(map(&parameter["map"], address))
                }
                Some(address) => Value::Plain(address.to_le_bytes()),
                None => {
                    let mut plain = [0; 8];
                    for (to, from) in plain.iter_mut().zip(numbers(&parameter["value"])) {
                        *to = from as u8;
                    }
                    Value::Plain(plain)
                }
            });
        }
        let launch = Launch {
            grid: sizes(&self.document["grid"]),
            block: [x, y, z],
            cluster: (cluster != [1, 1, 1]).then_some(cluster),
            dynamic_shared_bytes: shared as u32,
            parameters,
        };
        device
            .launch(&launch, 0, Some(Duration::from_secs(20)))
            .map_err(said)?;
        let mut after = Vec::new();
        for (buffer, bytes) in buffers {
            let mut content = vec![0; bytes];
            device.read(buffer, &mut content).map_err(said)?;
            after.extend(content);
        }
        Ok(after)
    }

    /// How many bytes differ, of how many, and where first. What a kernel keeps for itself does
    /// not count. Where machines may differ in approximations, results of 16 bits may be one unit
    /// in the last place apart.
    pub(crate) fn differences(&self, theirs: &[u8]) -> (usize, usize, String) {
        let scratch = self.document["scratch"].as_u64();
        let exact = self.document["exact"].as_bool().unwrap_or(true);
        let (mut at, mut count, mut all, mut first) = (0, 0, 0, String::new());
        for (index, (name, bytes)) in self.buffers().into_iter().enumerate() {
            if scratch != Some(index as u64) {
                all += bytes;
                let ours = self.after[at..at + bytes].chunks(2);
                let theirs = theirs[at..at + bytes].chunks(2);
                for (word, (ours, theirs)) in ours.zip(theirs).enumerate() {
                    let off = value(ours).abs_diff(value(theirs));
                    if off > u16::from(!exact) {
                        count += 1;
                        if first.is_empty() {
                            first = format!(
                                "{name} byte {}: emulator {ours:02x?}, GPU {theirs:02x?}",
                                2 * word
                            );
                        }
                    }
                }
            }
            at += bytes;
        }
        (count, all, first)
    }
}

/// Up to two bytes as a number.
fn value(bytes: &[u8]) -> u16 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u16::from(byte))
}

fn map(value: &Json, address: u64) -> TensorMapValue {
    let code = value["element"].as_u64().expect("a number") as u32;
    // Unsigned and signed integers are copied alike.
    let element = match code {
        0 => ElementType::I8,
        1 => ElementType::I16,
        2 | 3 => ElementType::I32,
        4 | 5 => ElementType::I64,
        _ => *ElementType::ALL
            .iter()
            .find(|element| element.driver_code() == code)
            .expect("a type that launchers know"),
    };
    let swizzle = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
    let swizzle = swizzle[value["swizzle"].as_u64().expect("a number") as usize];
    let sizes = numbers(&value["sizes"]);
    TensorMapValue {
        address,
        element,
        element_strides: vec![1; sizes.len()],
        sizes,
        outer_strides: numbers(&value["outer_strides"]),
        box_shape: numbers(&value["box"]).iter().map(|&n| n as u32).collect(),
        swizzle,
        fill: Fill::Zero,
    }
}
