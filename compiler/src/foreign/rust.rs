//! The Rust module of a library.
//!
//! ```rust,ignore
//! impl Context {
//!     pub fn norm(&mut self, v: &[f64]) -> Result<f64, Error> { ... }
//!     pub fn loss_gradient(&mut self, w: &[f64], b: f64, mode: Mode, w_gradient: Option<&mut [f64]>, ...) -> ...
//! }
//! ```
//!
//! What modules have in common is `module.rust` beside this file. Results of unknown length are asked for until they
//! fit.

use super::Interface;
use super::header::{self, ABI_VERSION, part_name};
use crate::core::interface::{Function, Type, identifier};
use std::fmt::Write;

const MODULE: &str = include_str!("module.rust");

/// The text of the module for a library that is linked statically or not.
pub fn module(interface: &Interface, is_static: bool) -> String {
    let name = &interface.name;
    let kind = if is_static { "static" } else { "dylib" };
    let mut link = format!("#[link(name = \"{name}\", kind = \"{kind}\")]");
    if is_static {
        // Elementary functions may need it.
        link += "\n#[link(name = \"m\")]";
    }
    let declarations: String = interface.functions.iter().map(|(function, _)| declaration(name, function)).collect();
    let mut text = MODULE
        .replace("@LINK@", &link)
        .replace("@EXTERN@", &declarations)
        .replace("@ABI@", &ABI_VERSION.to_string())
        .replace("@name@", name);
    for (function, about) in &interface.functions {
        text += &method(name, function, about);
    }
    text + "}\n"
}

fn declaration(library: &str, function: &Function) -> String {
    let name = identifier(&function.name).unwrap_or_default();
    let parameters: String = header::parameters(function)
        .iter()
        .map(|parameter| {
            let ty = match parameter.ty.trim_end() {
                "double" => "f64",
                "size_t" => "usize",
                "int" => "c_int",
                "const double *" => "*const f64",
                "size_t *" => "*mut usize",
                _ => "*mut f64",
            };
            format!(", {}: {ty}", parameter.name)
        })
        .collect();
    format!("    fn {library}_{name}(context: *mut Opaque{parameters}) -> c_int;\n")
}

/// A method in the making.
#[derive(Default)]
struct Method {
    parameters: Vec<String>,
    /// Statements in front of the call.
    before: String,
    /// What the function of C is passed behind the context.
    passed: Vec<String>,
}

fn method(library: &str, function: &Function, about: &str) -> String {
    let name = identifier(&function.name).unwrap_or_default();
    let mut method = Method::default();
    for parameter in &function.parameters {
        let name = identifier(&parameter.name).unwrap_or_default();
        method.parameters.push(format!("{name}: {}", argument_type(&parameter.ty)));
        method.argument(&name, &parameter.ty);
    }
    let documentation: String = match (&function.gradient, about) {
        (None, "") => format!("The function {}.", function.name),
        (None, about) => about.to_string(),
        (Some(_), about) => {
            format!("The value and the gradient of {}. {about}", function.name.trim_end_matches("-gradient"))
        }
    };
    let mut text = String::from("\n");
    for line in documentation.trim_end().lines() {
        let _ = writeln!(text, "    /// {line}");
    }
    text += "    ///\n    /// # Errors\n    ///\n    /// When the program fails.\n    #[allow(clippy::too_many_arguments)]\n";
    let (result, body) = match &function.gradient {
        Some(positions) => method.gradient(library, &name, function, positions),
        None => method.value(library, &name, function.result.as_ref().unwrap_or(&Type::Real)),
    };
    let parameters: String = method.parameters.iter().map(|parameter| format!(", {parameter}")).collect();
    let _ = write!(text, "    pub fn {name}(&mut self{parameters}) -> Result<{result}, Error> {{\n{body}    }}\n");
    text
}

impl Method {
    fn statement(&mut self, text: &str) {
        let _ = writeln!(self.before, "        {text}");
    }

    /// Passes an argument; `place` is an expression of it.
    fn argument(&mut self, place: &str, ty: &Type) {
        match ty {
            Type::Real => self.passed.push(place.to_string()),
            Type::Vector => self.passed.extend([format!("{place}.as_ptr()"), format!("{place}.len()")]),
            Type::Matrix => {
                let message = format!("\"{place} has not as many elements as its rows and columns say\"");
                self.statement(&format!(
                    "self::demand(Some({place}.elements.len()) == {place}.rows.checked_mul({place}.columns), {message})?;"
                ));
                self.passed.push(format!("{place}.elements.as_ptr()"));
                self.passed.extend([format!("{place}.rows"), format!("{place}.columns")]);
            }
            Type::Tuple(parts) => {
                for (position, part) in parts.iter().enumerate() {
                    self.argument(&format!("{place}.{position}"), part);
                }
            }
        }
    }

    /// The type and the body of a method that returns a value.
    fn value(&mut self, library: &str, name: &str, result: &Type) -> (String, String) {
        let leaves = result.leaves();
        let mut body = std::mem::take(&mut self.before);
        let mut call = self.passed.clone();
        let mut after = String::new();
        for (index, (_, ty)) in leaves.iter().enumerate() {
            let variable = format!("_r{index}");
            if *ty == Type::Real {
                let _ = writeln!(body, "        let mut {variable} = 0.0;");
                call.push(format!("&mut {variable}"));
                continue;
            }
            let _ = writeln!(body, "        let mut {variable} = vec![0.0; 16];");
            let _ = writeln!(body, "        let (mut {variable}_rows, mut {variable}_columns) = (0, 1);");
            call.extend([
                format!("{variable}.as_mut_ptr()"),
                format!("{variable}.len()"),
                format!("&mut {variable}_rows"),
            ]);
            if *ty == Type::Matrix {
                call.push(format!("&mut {variable}_columns"));
            }
            let _ = writeln!(
                after,
                "            {variable}.resize({variable}.len().max({variable}_rows * {variable}_columns), 0.0);"
            );
        }
        let call = format!("unsafe {{ {library}_{name}(self.0.as_ptr(), {}) }}", call.join(", "));
        if after.is_empty() {
            let _ = writeln!(body, "        let code = {call};");
        } else {
            let _ = writeln!(
                body,
                "        let code = loop {{\n            let code = {call};\n            if code != _ROOM {{\n                \
                 break code;\n            }}\n{after}        }};"
            );
        }
        let _ = writeln!(body, "        self::check(self, code)?;");
        for (index, _) in leaves.iter().enumerate().filter(|(_, (_, ty))| *ty != Type::Real) {
            let _ = writeln!(body, "        _r{index}.truncate(_r{index}_rows * _r{index}_columns);");
        }
        let mut next = 0;
        let value = assembled(result, &mut next);
        let _ = writeln!(body, "        Ok({value})");
        (result_type(result), body)
    }

    /// The type and the body of a method that returns a value and writes a gradient.
    fn gradient(&mut self, library: &str, name: &str, function: &Function, positions: &[usize]) -> (String, String) {
        self.parameters.push("mode: Mode".to_string());
        let mut call = self.passed.clone();
        call.extend(["mode as c_int".to_string(), "&mut value".to_string()]);
        for parameter in positions.iter().map(|position| &function.parameters[*position]) {
            for (place, ty) in parameter.ty.leaves() {
                let gradient = format!("{}_gradient", part_name(&parameter.name, &place));
                let path: String = place.iter().map(|position| format!(".{position}")).collect();
                let of = format!("{}{path}", identifier(&parameter.name).unwrap_or_default());
                if ty == Type::Real {
                    self.parameters.push(format!("{gradient}: Option<&mut f64>"));
                    call.push(format!("{gradient}.map_or(ptr::null_mut(), |number| number as *mut f64)"));
                    continue;
                }
                self.parameters.push(format!("{gradient}: Option<&mut [f64]>"));
                let length = if ty == Type::Matrix { format!("{of}.elements.len()") } else { format!("{of}.len()") };
                self.statement(&format!(
                    "self::demand({gradient}.as_ref().is_none_or(|g| g.len() == {length}), \"{gradient} has another length than \
                     {of}\")?;"
                ));
                call.push(format!("{gradient}.map_or(ptr::null_mut(), |numbers| numbers.as_mut_ptr())"));
            }
        }
        let mut body = std::mem::take(&mut self.before);
        let _ = writeln!(body, "        let mut value = 0.0;");
        let _ =
            writeln!(body, "        let code = unsafe {{ {library}_{name}(self.0.as_ptr(), {}) }};", call.join(", "));
        let _ = writeln!(body, "        self::check(self, code)?;\n        Ok(value)");
        ("f64".to_string(), body)
    }
}

fn tuple(parts: &[String]) -> String {
    // A tuple of one has a comma, too.
    format!("({},)", parts.join(", "))
}

fn argument_type(ty: &Type) -> String {
    match ty {
        Type::Real => "f64".to_string(),
        Type::Vector => "&[f64]".to_string(),
        Type::Matrix => "Matrix<&[f64]>".to_string(),
        Type::Tuple(parts) => tuple(&parts.iter().map(argument_type).collect::<Vec<_>>()),
    }
}

fn result_type(ty: &Type) -> String {
    match ty {
        Type::Real => "f64".to_string(),
        Type::Vector => "Vec<f64>".to_string(),
        Type::Matrix => "Matrix<Vec<f64>>".to_string(),
        Type::Tuple(parts) => tuple(&parts.iter().map(result_type).collect::<Vec<_>>()),
    }
}

/// The value of the type from the variables `_r0`, `_r1`..., from the next one on.
fn assembled(ty: &Type, next: &mut usize) -> String {
    if let Type::Tuple(parts) = ty {
        return tuple(&parts.iter().map(|part| assembled(part, next)).collect::<Vec<_>>());
    }
    let variable = format!("_r{next}");
    *next += 1;
    match ty {
        Type::Matrix => {
            format!("Matrix {{ elements: {variable}, rows: {variable}_rows, columns: {variable}_columns }}")
        }
        _ => variable,
    }
}
