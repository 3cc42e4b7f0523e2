//! The directives of a module, and kernels without their bodies.

use std::{collections::HashSet, mem, sync::Arc};

use super::{
    Parser, Result,
    body::Location,
    clip, dotted, fail, unexpected,
    variables::{Linkage, space},
};
use crate::syntax::{
    ast::{Entry, Module, SourceLine, Span},
    lexer::{Kind, Token},
};

/// A kernel and the `.loc` of each of its instructions.
type Located = (Entry, Vec<Option<Location>>);

impl<'a> Parser<'a> {
    /// Parses the whole text.
    pub(super) fn module(mut self) -> Result<Module> {
        let version = self.version()?;
        let target = self.target()?;
        self.scopes.enter();
        let mut entries: Vec<Located> = Vec::new();
        let mut names = HashSet::new();
        loop {
            let token = self.take()?;
            match token.kind {
                Kind::End => break,
                Kind::Semicolon => continue,
                Kind::Dotted => {}
                _ => return unexpected(token, "a directive"),
            }
            let Some(entry) = self.item(token)? else {
                continue;
            };
            if !names.insert(entry.0.name.clone()) {
                return fail(
                    entry.0.span,
                    format!("kernel `{}` is defined twice", clip(&entry.0.name)),
                );
            }
            entries.push(entry);
        }
        for (file, span) in &self.used_files {
            if !self.files.contains_key(file) {
                return fail(*span, format!("`.file` {file} is not declared"));
            }
        }
        let resolved = entries
            .into_iter()
            .map(|(mut entry, locations)| {
                for (instruction, location) in entry.instructions.iter_mut().zip(locations) {
                    instruction.source = location.map(|l| self.source(l));
                }
                entry
            })
            .collect();
        Ok(Module {
            version,
            target,
            variables: self.variables,
            entries: resolved,
        })
    }

    fn source(&self, location: Location) -> SourceLine {
        SourceLine {
            file: Arc::clone(&self.files[&location.file]),
            line: location.line,
            column: location.column,
        }
    }

    fn version(&mut self) -> Result<(u32, u32)> {
        let token = self.peek()?;
        if !self.accept_dotted("version")? {
            return unexpected(token, "`.version`");
        }
        let number = self.expect(Kind::Decimal, "a version such as `9.0`")?;
        let parts = number.text.split_once('.');
        match parts.map(|(major, minor)| (major.parse(), minor.parse())) {
            Some((Ok(major), Ok(minor))) => Ok((major, minor)),
            _ => unexpected(number, "a version such as `9.0`"),
        }
    }

    fn target(&mut self) -> Result<String> {
        let token = self.peek()?;
        if !self.accept_dotted("target")? {
            return unexpected(token, "`.target`");
        }
        let target = self.expect(Kind::Name, "a target such as `sm_90a`")?;
        while self.accept(Kind::Comma)? {
            self.expect(Kind::Name, "an option of the target")?;
        }
        Ok(target.text.into())
    }

    /// Parses what follows a directive of the module.
    fn item(&mut self, directive: Token<'a>) -> Result<Option<Located>> {
        let mut directive = directive;
        let mut linkage = None;
        let mut name = dotted(directive);
        if matches!(&*name, "visible" | "extern" | "weak" | "common") {
            linkage = Some(name);
            directive = self.expect(Kind::Dotted, "a declaration")?;
            name = dotted(directive);
        }
        if let Some(space) = space(&name).filter(|_| &*name != "param") {
            let linkage = match linkage.as_deref() {
                Some("extern") => Linkage::Extern,
                _ => Linkage::Own,
            };
            self.variables(space, linkage)?;
            return Ok(None);
        }
        match (&*name, linkage.as_deref()) {
            ("entry", None | Some("visible" | "weak")) => return self.entry().map(Some),
            ("func", _) => self.function()?,
            (_, Some(linkage)) => {
                return fail(
                    directive.span,
                    format!("`.{}` cannot be `.{linkage}`", clip(&name)),
                );
            }
            ("address_size", _) => self.address_size()?,
            ("file", _) => self.file()?,
            ("section", _) => self.section()?,
            ("pragma", _) => self.pragma()?,
            ("version" | "target", _) => {
                return fail(directive.span, format!("`.{name}` stands here twice"));
            }
            _ => {
                return fail(
                    directive.span,
                    format!("directive `.{}` is not supported", clip(&name)),
                );
            }
        }
        Ok(None)
    }

    fn address_size(&mut self) -> Result<()> {
        match self.literal("an address size")? {
            (64, _) => Ok(()),
            (bits, span) => fail(
                span,
                format!("addresses of {bits} bits are not supported, only of 64"),
            ),
        }
    }

    fn file(&mut self) -> Result<()> {
        let (number, span) = self.literal("the number of a file")?;
        let name = self.expect(Kind::String, "a file's name")?;
        // Time and size, which nobody needs.
        while self.accept(Kind::Comma)? {
            self.expect(Kind::Number, "a number")?;
        }
        let name: Arc<str> = name.text.trim_matches('"').into();
        match self.files.insert(number, Arc::clone(&name)) {
            Some(earlier) if earlier != name => {
                fail(span, format!("`.file` {number} is declared twice"))
            }
            _ => Ok(()),
        }
    }

    /// Skips the contents of a debug section.
    fn section(&mut self) -> Result<()> {
        let name = self.take()?;
        if !matches!(name.kind, Kind::Dotted | Kind::Name) {
            return unexpected(name, "a section's name");
        }
        let open = self.expect(Kind::OpenBrace, "`{`")?;
        let mut depth = 1usize;
        while depth > 0 {
            match self.take()?.kind {
                Kind::OpenBrace => depth += 1,
                Kind::CloseBrace => depth -= 1,
                Kind::End => return fail(open.span, "the `{` has no `}`"),
                _ => {}
            }
        }
        Ok(())
    }

    /// Parses what follows `.pragma`.
    pub(super) fn pragma(&mut self) -> Result<()> {
        loop {
            self.expect(Kind::String, "a string")?;
            if !self.accept(Kind::Comma)? {
                break;
            }
        }
        self.expect(Kind::Semicolon, "`,` or `;` after a string")?;
        Ok(())
    }

    /// Skips the declaration of a function and refuses a definition.
    fn function(&mut self) -> Result<()> {
        if self.accept(Kind::OpenParen)? {
            while self.take_inside()?.kind != Kind::CloseParen {}
        }
        let name = self.expect(Kind::Name, "a function's name")?;
        loop {
            let token = self.take_inside()?;
            match token.kind {
                Kind::Semicolon => return Ok(()),
                Kind::OpenBrace => {
                    return fail(
                        name.span,
                        format!(
                            "device function `{}` is not supported, only kernels are",
                            clip(name.text)
                        ),
                    );
                }
                _ => {}
            }
        }
    }

    /// Takes a token that cannot be the last.
    fn take_inside(&mut self) -> Result<Token<'a>> {
        let token = self.take()?;
        match token.kind {
            Kind::End => unexpected(token, "the rest of the declaration"),
            _ => Ok(token),
        }
    }

    /// Parses what follows `.entry`.
    fn entry(&mut self) -> Result<Located> {
        let name = self.expect(Kind::Name, "a kernel's name")?;
        self.body = Default::default();
        self.scopes.enter();
        let mut entry = Entry {
            span: name.span,
            name: name.text.into(),
            parameters: Vec::new(),
            required_block: None,
            max_block: None,
            cluster: None,
            explicit_cluster: false,
            max_registers: None,
            registers: Vec::new(),
            variables: Vec::new(),
            tables: Vec::new(),
            instructions: Vec::new(),
        };
        if self.accept(Kind::OpenParen)? {
            entry.parameters = self.parameters()?;
        }
        let open = loop {
            let token = self.take()?;
            match token.kind {
                Kind::OpenBrace => break token.span,
                Kind::Dotted => self.performance_directive(token, &mut entry)?,
                _ => return unexpected(token, "a directive or `{`"),
            }
        };
        self.body(open)?;
        self.scopes.leave();
        let body = mem::take(&mut self.body);
        entry.registers = body.registers;
        entry.variables = body.variables;
        entry.tables = body.tables;
        entry.instructions = body.instructions;
        Ok((entry, body.locations))
    }

    fn performance_directive(&mut self, token: Token<'a>, entry: &mut Entry) -> Result<()> {
        let name = dotted(token);
        let sizes = match &*name {
            "reqntid" => &mut entry.required_block,
            "maxntid" => &mut entry.max_block,
            "reqnctapercluster" => &mut entry.cluster,
            "maxnreg" => {
                let (count, _) = self.literal("a number of registers")?;
                if entry.max_registers.replace(count).is_some() {
                    return repeated(token.span, &name);
                }
                return Ok(());
            }
            "minnctapersm" | "maxnctapersm" | "maxclusterrank" => {
                self.literal("a number")?;
                return Ok(());
            }
            "explicitcluster" => {
                entry.explicit_cluster = true;
                return Ok(());
            }
            "noreturn" | "blocksareclusters" => return Ok(()),
            "pragma" => return self.pragma(),
            _ => {
                return fail(
                    token.span,
                    format!("directive `.{}` of a kernel is not supported", clip(&name)),
                );
            }
        };
        if sizes.replace(self.sizes()?).is_some() {
            return repeated(token.span, &name);
        }
        Ok(())
    }

    /// Parses one to three sizes.
    fn sizes(&mut self) -> Result<[u32; 3]> {
        let mut sizes = [1; 3];
        for (index, place) in sizes.iter_mut().enumerate() {
            if index > 0 && !self.accept(Kind::Comma)? {
                break;
            }
            let (size, span) = self.literal("a size")?;
            if size == 0 {
                return fail(span, "a size cannot be 0");
            }
            *place = size;
        }
        Ok(sizes)
    }
}

fn repeated<T>(span: Span, name: &str) -> Result<T> {
    fail(span, format!("`.{name}` stands here twice"))
}
