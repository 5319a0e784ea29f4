//! Values with the escapes of the file where they were found.

use wap_core::{ExecuteCommand, ModifyFile, Unobserved, Workspace, WorkspaceExt, WriteFile};

use super::given_values::printed;
use crate::over_workspace::{Masked, over, read, with_call};
use crate::uncovering::text;

const ESCAPED: &str = "p\\\"Q9zk!vT4mx";
const PLAIN: &str = "p\"Q9zk!vT4mx";

/// A workspace with a value that has an escape, one that has none, and the lines that a model sees.
fn file() -> (Masked, String, String) {
    let masked = over([
        ("a.json", format!("{{\"password\": \"{ESCAPED}\",\n\"host\": \"a\"}}\n")),
        ("b.json", "{\"password\": \"kX7q+zWm2Rt9\"}\n".to_owned()),
    ]);
    let placeholder = |path: &str| read(&masked, path, None).split('"').nth(3).unwrap().to_owned();
    let placeholders = ["a.json", "b.json"].map(placeholder);
    let [escaped, other] = placeholders;
    assert!(escaped.starts_with("⟦secret:") && other.starts_with("⟦secret:"), "{escaped} {other}");
    (masked, escaped, other)
}

fn write(masked: &Masked, step: u32, path: &str, content: String) -> Vec<String> {
    let request = WriteFile { path: path.into(), content, ..WriteFile::default() };
    with_call(step, |call| masked.write_file(call, &request)).unwrap().warnings
}

#[test]
fn a_value_with_escapes_that_is_written_into_another_file_is_warned_about() {
    let (masked, escaped, other) = file();
    let warnings = write(&masked, 1, "c.yaml", format!("smtp:\n  password: '{escaped}'\n"));
    assert!(warnings.len() == 1 && warnings[0].contains(&escaped), "{warnings:?}");
    assert!(!warnings[0].contains("Q9zk"), "{warnings:?}");
    assert_eq!(masked.inner().text("c.yaml").unwrap(), format!("smtp:\n  password: '{ESCAPED}'\n"));
    // The controls: in its own file, and a value without escapes.
    assert_eq!(write(&masked, 2, "d.yaml", format!("password: '{other}'\n")), [""; 0]);
    let line = format!("\"password\": \"{escaped}\"");
    let operations = vec![text(&line, &format!("\"user\": \"me\", {line}"))];
    let request = ModifyFile { path: "a.json".into(), operations, ..ModifyFile::default() };
    let modified = with_call(3, |call| masked.modify_file(call, &request)).unwrap();
    assert_eq!(modified.warnings, [""; 0]);
    assert!(masked.inner().text("a.json").unwrap().contains(&format!("\"me\", \"password\": \"{ESCAPED}\"")));
}

#[test]
fn the_warning_does_not_show_that_a_file_that_is_left_out_has_the_value() {
    let (masked, escaped, _) = file();
    let step = |step| write(&masked, step, ".env", format!("SMTP_PASSWORD='{escaped}'\n"));
    let warnings = step(1);
    assert!(warnings.iter().any(|warning| warning.contains(&escaped)), "{warnings:?}");
    let again = step(2);
    assert!(again.iter().any(|warning| warning.contains(&escaped)), "{again:?}");
}

#[test]
fn the_placeholder_of_the_printed_value_writes_the_value_that_the_program_reads() {
    let (masked, escaped, _) = file();
    masked.inner().on_command("jq -r .password a.json", Ok(printed(&format!("{PLAIN}\n"), "")));
    let command = ExecuteCommand { command: "jq -r .password a.json".into(), ..ExecuteCommand::default() };
    let ran = with_call(1, |call| masked.execute_command(call, &command, &mut Unobserved)).unwrap();
    let plain = ran.stdout.trim_end();
    assert!(plain.starts_with("⟦secret:") && plain != escaped, "{plain}");
    assert_eq!(write(&masked, 2, "c.yaml", format!("password: '{plain}'\n")), [""; 0]);
    assert_eq!(masked.inner().text("c.yaml").unwrap(), format!("password: '{PLAIN}'\n"));
    assert_eq!(read(&masked, "c.yaml", None), format!("password: '{plain}'\n"));
    // The file keeps its own bytes after an edit by what is seen of it.
    let view = read(&masked, "a.json", None);
    write(&masked, 3, "a.json", view.replace("\"host\": \"a\"", "\"host\": \"b\""));
    assert_eq!(
        masked.inner().text("a.json").unwrap(),
        format!("{{\"password\": \"{ESCAPED}\",\n\"host\": \"b\"}}\n")
    );
}
