//! What a wait that gave up says about itself.

use std::fmt;

use ptx_model::manifest::{Barrier, Kernel};

/// The eight words of a report as the kernel wrote them.
pub type WaitWords = [u32; 8];

/// A report in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitReport {
    role: String,
    barrier: String,
    parity: u32,
    block: [u32; 3],
    thread: u32,
}

impl WaitReport {
    /// Reads the words with the names of the kernel's manifest; none if nothing was written.
    pub fn decode(words: &WaitWords, kernel: &Kernel) -> Option<Self> {
        let [written, offset, parity, role, x, y, z, thread] = *words;
        if written == 0 {
            return None;
        }
        let roles = kernel.wait_report.iter().flat_map(|report| &report.roles);
        let mut named = roles.skip(usize::try_from(role).unwrap_or(usize::MAX));
        Some(Self {
            role: named.next().cloned().unwrap_or_else(|| format!("#{role}")),
            barrier: barrier_at(&kernel.barriers, offset)
                .unwrap_or_else(|| format!("at shared byte {offset}")),
            parity,
            block: [x, y, z],
            thread,
        })
    }
}

/// The barrier at a byte offset of dynamic shared memory, as `name[stage]`.
pub fn barrier_at(barriers: &[Barrier], offset: u32) -> Option<String> {
    for barrier in barriers {
        let Some(inside) = offset.checked_sub(barrier.shared_offset) else {
            continue;
        };
        if inside.is_multiple_of(8) && inside / 8 < barrier.stages {
            return Some(format!("{}[{}]", barrier.name, inside / 8));
        }
    }
    None
}

/// Puts the manifest's names behind the addresses of mbarriers in `text`, where dynamic shared
/// memory begins at `base`: `mbarrier at shared memory 0x10440 (in.empty[0])`.
pub fn name_barriers(text: &str, barriers: &[Barrier], base: u32) -> String {
    const MARK: &str = "mbarrier at shared memory 0x";
    let mut named = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let start = at + MARK.len();
        let digits = rest[start..].find(|c: char| !c.is_ascii_hexdigit());
        let end = digits.map_or(rest.len(), |digits| start + digits);
        named += &rest[..end];
        let address = u32::from_str_radix(&rest[start..end], 16).ok();
        let offset = address.and_then(|address| address.checked_sub(base));
        if let Some(name) = offset.and_then(|offset| barrier_at(barriers, offset)) {
            named += &format!(" ({name})");
        }
        rest = &rest[end..];
    }
    named + rest
}

impl fmt::Display for WaitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        write!(
            f,
            "wait timed out: role {}, barrier {}, parity {}, block ({x},{y},{z}), thread {}",
            self.role, self.barrier, self.parity, self.thread
        )
    }
}

#[cfg(test)]
mod tests {
    use ptx_model::manifest::Manifest;

    use super::*;

    #[test]
    fn names_role_and_barrier() {
        let text = r#"{"schema_version":1,"target":"sm_90a","ptx_version":"8.6","kernels":[{
          "name":"k","block":[96,1,1],"cluster":null,"grid":null,"dynamic_shared_bytes":1024,
          "arguments":[],"parameters":[],"roles":[],"channels":[],
          "barriers":[{"name":"in.full","stages":4,"arrival_count":1,"tx_bytes":512,"shared_offset":512},
                      {"name":"in.empty","stages":4,"arrival_count":64,"tx_bytes":0,"shared_offset":544}],
          "registers_per_warpgroup":null,
          "wait_report":{"symbol":"report","bytes":32,"roles":["load","compute"]}}]}"#;
        let kernel = Manifest::from_json(text).expect("valid").kernels.remove(0);
        let words = |offset, role| WaitReport::decode(&[1, offset, 1, role, 7, 0, 2, 37], &kernel);
        assert_eq!(
            words(528, 1).expect("written").to_string(),
            "wait timed out: role compute, barrier in.full[2], parity 1, block (7,0,2), thread 37"
        );
        assert!(
            words(544, 0)
                .expect("written")
                .to_string()
                .contains("role load, barrier in.empty[0],")
        );
        assert!(
            words(577, 9)
                .expect("written")
                .to_string()
                .contains("role #9, barrier at shared byte 577,")
        );
        assert_eq!(WaitReport::decode(&[0; 8], &kernel), None);
        let text = "the mbarrier at shared memory 0x610, and the mbarrier at shared memory 0x8";
        assert_eq!(
            name_barriers(text, &kernel.barriers, 1024),
            "the mbarrier at shared memory 0x610 (in.full[2]), and the mbarrier at shared memory 0x8"
        );
    }
}
