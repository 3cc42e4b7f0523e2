//! Manifests and launches that do not fit the kernel.

use crate::{Case, case};

/// A change of one piece of the good manifest.
fn manifest(name: &'static str, from: &str, to: &str, message: &'static str) -> Case {
    let good = case(name, 2, message);
    assert!(good.manifest.contains(from), "{name}: {from}");
    let manifest = good.manifest.replacen(from, to, 1);
    Case { manifest, ..good }
}

fn arguments(name: &'static str, list: &[&'static str], message: &'static str) -> Case {
    Case {
        arguments: list.to_vec(),
        ..case(name, 2, message)
    }
}

fn required(name: &'static str, directive: &str, message: &'static str) -> Case {
    let good = case(name, 2, message);
    let ptx = good.ptx.replacen("{\n", &format!("{directive}\n{{\n"), 1);
    Case { ptx, ..good }
}

const N: [&str; 2] = ["--arg", "n=64"];

pub(crate) fn cases() -> Vec<Case> {
    let with = |list: &[&'static str]| [&N[..], list].concat();
    vec![
        manifest("no JSON", "{\"schema", "{schema", "no usable manifest"),
        manifest(
            "other schema",
            "\"schema_version\":1",
            "\"schema_version\":7",
            "no usable manifest",
        ),
        manifest(
            "kernel of another name",
            "\"k\"",
            "\"other\"",
            "the PTX has no kernel `other`, it has k",
        ),
        manifest(
            "a parameter too few",
            ",{\"kind\":\"scalar\",\"argument\":1,\"type\":\"i32\"}]",
            "]",
            "2 parameters in the PTX and 1 in the manifest",
        ),
        manifest(
            "a parameter too many",
            "\"parameters\":[",
            "\"parameters\":[{\"kind\":\"size\",\"argument\":0,\"dimension\":0},",
            "2 parameters in the PTX and 3 in the manifest",
        ),
        manifest(
            "parameters in the wrong order",
            "[{\"kind\":\"pointer\",\"argument\":0},{\"kind\":\"scalar\",\"argument\":1,\"type\":\"i32\"}]",
            "[{\"kind\":\"scalar\",\"argument\":1,\"type\":\"i32\"},{\"kind\":\"pointer\",\"argument\":0}]",
            "parameter 0 has 8 bytes in the PTX and 4 in the manifest",
        ),
        Case {
            manifest: crate::MANIFEST.replace("i32", "i64"),
            ..case(
                "scalar of another size",
                2,
                "parameter 1 has 4 bytes in the PTX and 8 in the manifest",
            )
        },
        manifest(
            "tensor map where an address is",
            "{\"kind\":\"pointer\",\"argument\":0}",
            "{\"kind\":\"tensor_map\",\"argument\":0,\"element_type\":\"f32\",\"box\":[16],\"element_strides\":[1],\"swizzle\":\"none\",\"fill\":\"zero\"}",
            "parameter 0 has 8 bytes in the PTX and 128 in the manifest",
        ),
        manifest(
            "parameter of no argument",
            "{\"kind\":\"pointer\",\"argument\":0}",
            "{\"kind\":\"pointer\",\"argument\":9}",
            "no usable manifest",
        ),
        manifest("block of 0 threads", "[64,1,1]", "[0,1,1]", "error: "),
        manifest("block of 2048 threads", "[64,1,1]", "[2048,1,1]", "error: "),
        manifest(
            "block beyond 32 bits",
            "[64,1,1]",
            "[65536,65536,65536]",
            "error: ",
        ),
        manifest(
            "shared memory of 1 GB",
            "\"dynamic_shared_bytes\":1024",
            "\"dynamic_shared_bytes\":1073741824",
            "error: ",
        ),
        manifest(
            "shared memory of 4 GB",
            "\"dynamic_shared_bytes\":1024",
            "\"dynamic_shared_bytes\":4294967295",
            "error: ",
        ),
        manifest(
            "cluster of 32 blocks",
            "\"cluster\":null",
            "\"cluster\":[32,1,1]",
            "error: ",
        ),
        manifest(
            "cluster that does not divide the grid",
            "\"cluster\":null",
            "\"cluster\":[2,1,1]",
            "error: ",
        ),
        manifest(
            "grid beyond the hardware's",
            "[{\"const\":1},",
            "[{\"const\":99999999999},",
            "error: ",
        ),
        manifest(
            "grid that divides by 0",
            "[{\"const\":1},",
            "[{\"ceildiv\":[{\"const\":1},{\"const\":0}]},",
            "error: ",
        ),
        manifest(
            "wait report without its global",
            "\"wait_report\":null",
            "\"wait_report\":{\"symbol\":\"report\",\"bytes\":32,\"roles\":[]}",
            "no global of 8 bytes of the name `report`",
        ),
        required(
            "block of another size",
            ".reqntid 32",
            "the kernel requires blocks of",
        ),
        required(
            "block larger than allowed",
            ".maxntid 32",
            "the kernel allows 32 threads",
        ),
        required(
            "cluster of another size",
            ".reqnctapercluster 2",
            "the kernel requires clusters of",
        ),
        arguments("no size", &N, "argument `A` has no size"),
        arguments("no scalar", &["--size", "64"], "argument `n` has no value"),
        arguments(
            "scalar out of range",
            &["--size", "64", "--arg", "n=4294967296"],
            "n",
        ),
        arguments(
            "size of 1 TB",
            &with(&["--size", "250000000000"]),
            "error: ",
        ),
        arguments(
            "size of 8 GB",
            &with(&["--size", "2000000000"]),
            "the emulator's memory is limited",
        ),
        arguments(
            "size beyond 64 bits",
            &with(&["--size", "99999999999999999999"]),
            "expected sizes",
        ),
        arguments(
            "start that is not aligned",
            &with(&["--size", "64", "--misalign", "A=4"]),
            "must start at a multiple of 16",
        ),
        arguments(
            "4 billion blocks and more",
            &with(&["--size", "64", "--grid", "2147483647,65535,65535"]),
            "blocks are too many",
        ),
        arguments(
            "trace into no folder",
            &with(&["--size", "64", "--trace", "no/such/folder/t.json"]),
            "cannot write `no/such/folder/t.json`",
        ),
        arguments(
            "report into no folder",
            &with(&["--size", "64", "--report-file", "no/such/folder/r.json"]),
            "cannot write `no/such/folder/r.json`",
        ),
    ]
}
