//! The folder that the kernels lie in, and the description beside each.

use std::{fs, path::PathBuf};

use ptx_emulator::tensor_map::{MapElement, Swizzle};
use serde_json::Value;

/// Where the kernels are: `PTX_CORPUS`, or `shared/corpus` beside the workspace. If that is not
/// there, the tests have nothing to do.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("PTX_CORPUS") {
        let folder = PathBuf::from(folder);
        assert!(
            folder.is_dir(),
            "PTX_CORPUS names {}, which is no folder",
            folder.display()
        );
        return Some(folder);
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    folder.is_dir().then_some(folder)
}

/// All kernels that are there, as `folder/name`.
pub(crate) fn kernels() -> Vec<String> {
    let Some(root) = find() else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for folder in fs::read_dir(root)
        .expect("the folder can be read")
        .flatten()
    {
        let Ok(files) = fs::read_dir(folder.path()) else {
            continue;
        };
        for file in files.flatten() {
            let path = file.path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                let stem = path
                    .file_stem()
                    .expect("a file has a name")
                    .to_string_lossy();
                names.push(format!("{}/{stem}", folder.file_name().to_string_lossy()));
            }
        }
    }
    names.sort();
    names
}

/// What the description of a kernel says in numbers.
#[derive(Debug)]
pub(crate) struct Description {
    /// The kernel's name in the PTX.
    pub(crate) entry: String,
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster.
    pub(crate) cluster: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub(crate) dynamic_shared_bytes: u32,
    /// Bytes of global memory that each block wants for itself.
    pub(crate) scratch_per_block: u64,
    /// One for each parameter, with the form of those that are tensor maps.
    pub(crate) parameters: Vec<Option<Form>>,
}

/// What a tensor map has apart from the tensor.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// The type of its elements.
    pub(crate) element: MapElement,
    /// Elements of the box, innermost dimension first.
    pub(crate) box_sizes: Vec<u32>,
    /// Permutation in shared memory.
    pub(crate) swizzle: Swizzle,
}

/// A kernel's text and description; none if the folder or the kernel is not there.
pub(crate) fn read(folder: &str, name: &str) -> Option<(String, Description)> {
    let base = find()?.join(folder).join(name);
    let text = fs::read_to_string(base.with_extension("ptx")).ok()?;
    let json = fs::read_to_string(base.with_extension("json")).expect("a description lies beside");
    let json: Value = serde_json::from_str(&json).expect("the description is JSON");
    Some((text, describe(&json)))
}

fn describe(json: &Value) -> Description {
    let launch = &json["launch"];
    let parameters = json["params"].as_array().expect("parameters");
    Description {
        entry: json["entry"].as_str().expect("a name").to_owned(),
        block: triple(&launch["block"]),
        cluster: triple(&launch["cluster"]),
        dynamic_shared_bytes: number(&launch["dynamic_shared_bytes"]),
        scratch_per_block: launch["global_scratch_bytes_per_cta"].as_u64().unwrap_or(0),
        parameters: parameters
            .iter()
            .map(|parameter| form(&parameter["meaning"]))
            .collect(),
    }
}

fn form(meaning: &Value) -> Option<Form> {
    let element = match meaning["elem"].as_str()? {
        "u8" => MapElement::U8,
        "f16" => MapElement::F16,
        "bf16" => MapElement::Bf16,
        "f32" => MapElement::F32,
        other => panic!("no case for the element type {other}"),
    };
    let swizzle = match meaning["swizzle"].as_str() {
        Some("none") => Swizzle::None,
        Some("32B") => Swizzle::B32,
        Some("64B") => Swizzle::B64,
        Some("128B") => Swizzle::B128,
        other => panic!("no case for the swizzle {other:?}"),
    };
    assert_eq!(meaning["interleave"], "none");
    assert_eq!(meaning["oob"], "zero");
    // nvcc's descriptions list the box from the inside, in a string; Triton's from the outside.
    let box_sizes = match meaning["box_inner_first"].as_str() {
        Some(text) => numbers(&serde_json::from_str(text).expect("a list")),
        None => numbers(&meaning["box_outer_first"])
            .into_iter()
            .rev()
            .collect(),
    };
    Some(Form {
        element,
        box_sizes,
        swizzle,
    })
}

fn number(value: &Value) -> u32 {
    value
        .as_u64()
        .and_then(|n| n.try_into().ok())
        .expect("a number")
}

fn numbers(value: &Value) -> Vec<u32> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(number)
        .collect()
}

fn triple(value: &Value) -> [u32; 3] {
    numbers(value).try_into().expect("three numbers")
}
