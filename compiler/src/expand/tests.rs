use super::*;

fn expanded(text: &str) -> Result<Program, Vec<String>> {
    let mut sources = SourceMap::new();
    expand_text("test.vlad", text, &Options::default(), &mut sources)
        .map_err(|errors| errors.iter().map(|error| error.render(&sources, false)).collect())
}

#[test]
fn the_library_expands() {
    if let Err(errors) = expanded("") {
        panic!("{}", errors.join("\n"));
    }
}
