//! Layouts as tables.

use std::fmt;

use super::Layout;

/// One line per input bit with its image, then the sizes of the outputs:
///
/// ```text
/// register 1 | row 0  column 1
/// lane     1 | row 0  column 2
/// lane     2 | row 1  column 0
///       size | row 2  column 4
/// ```
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        for axis in self.inputs() {
            for (bit, &image) in self.images_of(axis.name).iter().enumerate() {
                let head = (axis.name, (1_u64 << bit).to_string());
                lines.push((head, self.outputs.unpack(image)));
            }
        }
        let sizes: Vec<u32> = self.outputs().iter().map(super::Axis::size).collect();

        let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
        let name_width = longest(&mut lines.iter().map(|((name, _), _)| name.len()));
        let bit_width = longest(&mut lines.iter().map(|((_, bit), _)| bit.len()));
        lines.push((("", "size".to_owned()), sizes));
        for ((name, bit), coordinates) in &lines {
            if name.is_empty() {
                write!(f, "{bit:>0$} |", (name_width + 1 + bit_width).max(4))?;
            } else {
                write!(f, "{name:<name_width$} {bit:>bit_width$} |")?;
            }
            for (index, (axis, coordinate)) in self.outputs().iter().zip(coordinates).enumerate() {
                let column = lines.iter().map(|(_, c)| c[index].to_string().len());
                let width = longest(&mut { column });
                let gap = if index == 0 { " " } else { "  " };
                write!(f, "{gap}{} {coordinate:>width$}", axis.name)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
