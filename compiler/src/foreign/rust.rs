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
use crate::core::interface::{Function, Record, Signature, Type, identifier, type_name};
use std::fmt::Write;
use std::rc::Rc;

const MODULE: &str = include_str!("module.rust");

/// What modules have in common whose functions take some of the caller.
const CALLBACKS: &str = include_str!("callbacks.rust");

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
        .replace("@RECORDS@", &interface.records().iter().map(structure).collect::<String>())
        .replace("@ABI@", &ABI_VERSION.to_string())
        .replace("@name@", name);
    for (function, about) in &interface.functions {
        text += &method(name, function, about);
    }
    text += "}\n";
    let signatures = interface.signatures();
    if !signatures.is_empty() {
        text += CALLBACKS;
        text.extend(signatures.into_iter().map(callback));
    }
    text
}

/// The structure for a kind of records, of which `E` are the elements of arrays: a slice in arguments, in results a
/// vector.
fn structure(record: &Rc<Record>) -> String {
    let name = type_name(&record.name).unwrap_or_default();
    let ty = Type::Record(record.clone());
    let fields = ty.parts().into_iter();
    let fields: String = fields
        .map(|(field, ty)| format!("    /// {}.\n    pub {field}: {},\n", in_words(ty), type_with(ty, "E")))
        .collect();
    let (traits, of) =
        if has_arrays(&ty) { ("Clone, Debug, PartialEq", "<E>") } else { ("Clone, Copy, Debug, PartialEq", "") };
    format!("\n/// The record {}.\n#[derive({traits})]\npub struct {name}{of} {{\n{fields}}}\n", record.name)
}

fn in_words(ty: &Type) -> &'static str {
    match ty {
        Type::Real => "A number",
        Type::Integer => "A whole number",
        Type::Boolean => "True or false",
        Type::Text => "A text",
        Type::Vector => "A vector",
        Type::Matrix => "A matrix",
        Type::Tuple(_) => "A tuple",
        Type::Record(_) => "A record",
        Type::Function(_) => "A function",
    }
}

fn has_arrays(ty: &Type) -> bool {
    ty.leaves().iter().any(|(_, ty)| ty.is_array())
}

/// The type that Rust has for a parameter of C.
fn type_in_c(parameter: &header::Parameter) -> &'static str {
    match parameter.ty.trim_end() {
        "double" => "f64",
        "size_t" => "usize",
        "int" => "c_int",
        "int64_t" => "i64",
        "bool" => "bool",
        "bool *" => "*mut bool",
        "const double *" => "*const f64",
        "size_t *" => "*mut usize",
        "void *" => "*mut c_void",
        "char *" => "*mut c_char",
        "const char *" => "*const c_char",
        // A function, whose own parameters differ.
        "int (*" => "*const c_void",
        _ => "*mut f64",
    }
}

fn declaration(library: &str, function: &Function) -> String {
    let name = function.symbol();
    let parameters = header::parameters(function).into_iter();
    let parameters: String =
        parameters.map(|parameter| format!(", {}: {}", parameter.name, type_in_c(&parameter))).collect();
    format!("    fn {library}_{name}(context: *mut Opaque{parameters}) -> c_int;\n")
}

/// What Rust's functions are that are passed for one of the caller.
fn callable(signature: &Signature) -> String {
    let arguments: String = signature.arguments.iter().map(|ty| type_with(ty, "&[f64]") + ", ").collect();
    let slopes = if signature.result == Type::Real { "[f64]" } else { "Vec<f64>" };
    let result = type_with(&signature.result, "Vec<f64>");
    format!("FnMut({arguments}Option<&mut {slopes}>) -> Result<{result}, Error>")
}

/// The name of what C calls for such a function.
fn callback_name(signature: &Signature) -> String {
    let types = signature.arguments.iter().chain([&signature.result]).map(|ty| match ty {
        Type::Vector => "_vector",
        Type::Matrix => "_matrix",
        Type::Integer => "_integer",
        Type::Boolean => "_boolean",
        Type::Text => "_text",
        _ => "_real",
    });
    "_call".to_string() + &types.collect::<String>()
}

/// What C calls for such a function: the data are a `Callback` of it.
fn callback(signature: &Signature) -> String {
    let parameters = header::callback(signature);
    let list = parameters.iter().map(|parameter| format!("{}: {}", parameter.name, type_in_c(parameter)));
    let list = list.collect::<Vec<_>>().join(", ");
    let (mut arguments, mut count) = (String::new(), String::from("0"));
    for parameter in &parameters[1..] {
        let name = &parameter.name;
        if let Some(array) = name.strip_suffix("_columns") {
            arguments += &format!(
                "Matrix {{ elements: _slice({array}, {array}_rows * {name}), rows: {array}_rows, columns: {name} }}, "
            );
            count += &format!(" + {array}_rows * {name}");
        } else if let Some(array) = name.strip_suffix("_length") {
            arguments += &format!("_slice({array}, {name}), ");
            count += &format!(" + {name}");
        } else {
            match type_in_c(parameter) {
                "f64" => {
                    arguments += &format!("{name}, ");
                    count += " + 1";
                }
                "i64" | "bool" => arguments += &format!("{name}, "),
                "*const c_char" => arguments += &format!("&_text({name}), "),
                _ => {}
            }
        }
    }
    let name = callback_name(signature);
    let body = if signature.result == Type::Real {
        format!("callback.number(value, gradient, {count}, |f, slopes| f({arguments}slopes))")
    } else {
        format!("callback.vector((value, room, length, jacobian), {count}, |f, slopes| f({arguments}slopes))")
    };
    let of = callable(signature);
    format!(
        "
unsafe extern \"C\" fn {name}<F: {of}>({list}) -> c_int {{
    unsafe {{
        let callback = &mut *data.cast::<Callback<F>>();
        {body}
    }}
}}

fn {name}_of<F: {of}>(callback: &mut Callback<F>) -> (*const c_void, *mut c_void) {{
    ({name}::<F> as *const c_void, ptr::from_mut(callback).cast())
}}
"
    )
}

/// A method in the making.
#[derive(Default)]
struct Method {
    parameters: Vec<String>,
    /// Statements in front of the call.
    before: String,
    /// What the function of C is passed behind the context.
    passed: Vec<String>,
    /// Statements behind it.
    after: String,
}

fn method(library: &str, function: &Function, about: &str) -> String {
    let name = identifier(&function.name).unwrap_or_default();
    let mut method = Method::default();
    for parameter in &function.parameters {
        let name = identifier(&parameter.name).unwrap_or_default();
        method.parameters.push(format!("{name}: {}", type_with(&parameter.ty, "&[f64]")));
        method.argument(&name, &parameter.ty);
    }
    let documentation: String = match (&function.gradient, about) {
        (None, "") => format!("The function {}.", function.name),
        (None, about) => about.to_string(),
        (Some(_), about) => {
            format!("The value and the gradient of {}. {about}", function.differentiated())
        }
    };
    let mut text = String::from("\n");
    for line in documentation.trim_end().lines() {
        let _ = writeln!(text, "    /// {line}");
    }
    text += "    ///\n    /// # Errors\n    ///\n    /// When the program fails.\n    #[allow(clippy::too_many_arguments)]\n";
    let (result, body) = match &function.gradient {
        Some(positions) => method.gradient(library, function, positions),
        None => method.value(library, &function.symbol(), function.result.as_ref().unwrap_or(&Type::Real)),
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
            Type::Real | Type::Integer | Type::Boolean => self.passed.push(place.to_string()),
            Type::Text => {
                let name = format!("_t{}", self.passed.len());
                self.statement(&format!("let {name} = self::text({place})?;"));
                self.passed.push(format!("{name}.as_ptr()"));
            }
            Type::Vector => self.passed.extend([format!("{place}.as_ptr()"), format!("{place}.len()")]),
            Type::Matrix => {
                let message = format!("\"{place} has not as many elements as its rows and columns say\"");
                self.statement(&format!(
                    "self::demand(Some({place}.elements.len()) == {place}.rows.checked_mul({place}.columns), {message})?;"
                ));
                self.passed.push(format!("{place}.elements.as_ptr()"));
                self.passed.extend([format!("{place}.rows"), format!("{place}.columns")]);
            }
            Type::Function(signature) => {
                // Names that no parameter has.
                let (name, number) = (callback_name(signature), self.passed.len());
                self.statement(&format!("let mut _f{number} = Callback::new({place});"));
                self.statement(&format!("let _c{number} = {name}_of(&mut _f{number});"));
                self.passed.extend([format!("_c{number}.0"), format!("_c{number}.1")]);
                let _ = writeln!(self.after, "        _f{number}.finish()?;");
            }
            Type::Tuple(_) | Type::Record(_) => {
                for (name, part) in ty.parts() {
                    self.argument(&format!("{place}.{name}"), part);
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
            if **ty == Type::Text {
                let _ = writeln!(body, "        let (mut {variable}, mut {variable}_length) = (vec![0u8; 64], 0);");
                call.extend([
                    format!("{variable}.as_mut_ptr().cast()"),
                    format!("{variable}.len()"),
                    format!("&mut {variable}_length"),
                ]);
                let _ =
                    writeln!(after, "            {variable}.resize({variable}.len().max({variable}_length + 1), 0);");
                continue;
            }
            if !ty.is_array() {
                let none = if **ty == Type::Boolean { "false" } else { "0.0" };
                let _ = writeln!(body, "        let mut {variable} = {none};");
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
            if **ty == Type::Matrix {
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
        let _ = writeln!(body, "{}        self::check(self, code)?;", self.after);
        for (index, _) in leaves.iter().enumerate().filter(|(_, (_, ty))| ty.is_array()) {
            let _ = writeln!(body, "        _r{index}.truncate(_r{index}_rows * _r{index}_columns);");
        }
        for (index, _) in leaves.iter().enumerate().filter(|(_, (_, ty))| **ty == Type::Text) {
            let _ = writeln!(
                body,
                "        let _r{index} = String::from_utf8_lossy(&_r{index}[.._r{index}_length]).into_owned();"
            );
        }
        let mut next = 0;
        let value = assembled(result, &mut next);
        let _ = writeln!(body, "        Ok({value})");
        (type_with(result, "Vec<f64>"), body)
    }

    /// The type and the body of a method that returns a value and writes a gradient.
    fn gradient(&mut self, library: &str, function: &Function, positions: &[usize]) -> (String, String) {
        self.parameters.push("mode: Mode".to_string());
        let mut call = self.passed.clone();
        call.extend(["mode as c_int".to_string(), "&mut value".to_string()]);
        for parameter in positions.iter().map(|position| &function.parameters[*position]) {
            let name = identifier(&parameter.name).unwrap_or_default();
            for (place, ty) in parameter.ty.pieces() {
                let gradient = format!("{}_gradient", part_name(&parameter.name, &place));
                let of = [std::slice::from_ref(&name), &place[..]].concat().join(".");
                if let Type::Record(_) = ty {
                    self.parameters.push(format!("mut {gradient}: Option<&mut {}>", type_with(ty, "Vec<f64>")));
                    self.record_gradient(&gradient, &of, ty, &mut call);
                    continue;
                }
                if *ty == Type::Real {
                    self.parameters.push(format!("{gradient}: Option<&mut f64>"));
                    call.push(format!("{gradient}.map_or(ptr::null_mut(), |number| number as *mut f64)"));
                    continue;
                }
                self.parameters.push(format!("{gradient}: Option<&mut [f64]>"));
                let length = if *ty == Type::Matrix { format!("{of}.elements.len()") } else { format!("{of}.len()") };
                self.statement(&format!(
                    "self::demand({gradient}.as_ref().is_none_or(|g| g.len() == {length}), \"{gradient} has another length than \
                     {of}\")?;"
                ));
                call.push(format!("{gradient}.map_or(ptr::null_mut(), |numbers| numbers.as_mut_ptr())"));
            }
        }
        let mut body = std::mem::take(&mut self.before);
        let _ = writeln!(body, "        let mut value = 0.0;");
        let name = function.symbol();
        let _ =
            writeln!(body, "        let code = unsafe {{ {library}_{name}(self.0.as_ptr(), {}) }};", call.join(", "));
        let _ = writeln!(body, "{}        self::check(self, code)?;\n        Ok(value)", self.after);
        ("f64".to_string(), body)
    }

    /// Passes the fields of a record that gets a gradient.
    fn record_gradient(&mut self, gradient: &str, of: &str, ty: &Type, call: &mut Vec<String>) {
        for (place, ty) in ty.leaves() {
            let path = place.join(".");
            let address = match ty {
                Type::Matrix => {
                    let message = format!("\"{gradient}.{path} has other rows and columns than {of}.{path}\"");
                    self.statement(&format!(
                        "self::demand({gradient}.as_ref().is_none_or(|g| (g.{path}.rows, g.{path}.columns) == ({of}.{path}.rows, \
                         {of}.{path}.columns) && g.{path}.elements.len() == {of}.{path}.elements.len()), {message})?;"
                    ));
                    format!("g.{path}.elements.as_mut_ptr()")
                }
                Type::Vector => {
                    let message = format!("\"{gradient}.{path} has another length than {of}.{path}\"");
                    self.statement(&format!(
                        "self::demand({gradient}.as_ref().is_none_or(|g| g.{path}.len() == {of}.{path}.len()), {message})?;"
                    ));
                    format!("g.{path}.as_mut_ptr()")
                }
                _ => format!("&mut g.{path} as *mut f64"),
            };
            call.push(format!("{gradient}.as_mut().map_or(ptr::null_mut(), |g| {address})"));
        }
    }
}

fn tuple(parts: &[String]) -> String {
    // A tuple of one has a comma, too.
    format!("({},)", parts.join(", "))
}

/// The type for values whose arrays have these elements.
fn type_with(ty: &Type, elements: &str) -> String {
    match ty {
        Type::Real => "f64".to_string(),
        Type::Integer => "i64".to_string(),
        Type::Boolean => "bool".to_string(),
        Type::Text => if elements == "&[f64]" { "&str" } else { "String" }.to_string(),
        Type::Function(signature) => format!("impl {}", callable(signature)),
        Type::Vector => elements.to_string(),
        Type::Matrix => format!("Matrix<{elements}>"),
        Type::Tuple(parts) => tuple(&parts.iter().map(|part| type_with(part, elements)).collect::<Vec<_>>()),
        Type::Record(record) => {
            let name = type_name(&record.name).unwrap_or_default();
            if has_arrays(ty) { format!("{name}<{elements}>") } else { name }
        }
    }
}

/// The value of the type from the variables `_r0`, `_r1`..., from the next one on.
fn assembled(ty: &Type, next: &mut usize) -> String {
    let parts = ty.parts().into_iter();
    match ty {
        Type::Tuple(_) => return tuple(&parts.map(|(_, part)| assembled(part, next)).collect::<Vec<_>>()),
        Type::Record(record) => {
            let fields: String = parts.map(|(name, part)| format!("{name}: {}, ", assembled(part, next))).collect();
            return format!("{} {{ {fields}}}", type_name(&record.name).unwrap_or_default());
        }
        _ => {}
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
