//! Values on a line below their name.

use secret_placeholders::Detector;
use wap_core::{ModifyFile, ModifyOperation, QueryType, Reason, SearchFiles, Workspace, WorkspaceExt};

use crate::masking::secrets;
use crate::over_workspace::{over, read, search, with_call};

/// Texts with `{}` for a value below its name.
const BELOW: [&str; 11] = [
    "env:\n  - name: DB_PASSWORD\n    value: \"{}\"\n  - name: A\n    value: b\n",
    "  - name: DB_PASSWORD\n    value: {}\n",
    "- name: DB_PASSWORD\n  secret: true\n  value: '{}'\n",
    "{\n  \"ParameterKey\": \"DBPassword\",\n  \"ParameterValue\": \"{}\"\n}\n",
    "{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"{}\",\n},\n",
    "variable \"db_password\" {\n  type    = string\n  default = \"{}\"\n}\n",
    "stringData:\n  password: |\n    {}\n",
    "  password: >-\n    {}\n  other: a\n",
    "\t<key>Password</key>\n\t<string>{}</string>\n",
    "- key: api_token\n  value: {}{}\n",
    "- name: DB_PASSWORD\n  value: {}",
];

/// Texts of which nothing is hidden.
const ORDINARY: [&str; 8] = [
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: my-secret\n      key: password\n- name: A\n  value: \"kX7qzWm2Rt9xB4\"\n",
    "{\n  \"key\": \"password\",\n  \"value\": \"Kennwort eingeben\"\n}\n",
    "{\n  \"key\": \"password\"\n},\n{\n  \"value\": \"kX7qzWm2Rt9xB4\"\n}\n",
    "  description: |\n    kX7qzWm2Rt9xB4\n",
    "  password: |\n    The password of the user is asked for, up to 20 signs.\n",
    "variable \"db_password\" {\n  default = \"\"\n}\nvariable \"a\" {\n  default = \"kX7qzWm2Rt9xB4\"\n}\n",
    "<key>Title</key>\n<string>kX7qzWm2Rt9xB4</string>\n",
    "name: password\n\n\n\n\n\n\nvalue: kX7qzWm2Rt9xB4\n",
];

fn value() -> String {
    ["kX7qzWm2", "Rt9xB4"].concat()
}

#[test]
fn a_value_below_its_name_is_hidden() {
    for form in BELOW {
        let text = form.replace("{}", &value());
        let secrets = secrets();
        let masked = secrets.mask(&text).into_owned();
        assert!(!masked.contains(&value()) && masked.contains("⟦secret:"), "{masked}");
        assert_eq!(secrets.restore(&masked).unwrap(), text);
        // The control: a name of something else.
        let other = text.to_lowercase().replace("password", "hostname").replace("token", "region");
        assert_eq!(Detector::usual().find(&other), [], "{other}");
    }
    for text in ORDINARY {
        assert_eq!(Detector::usual().find(text), [], "{text}");
    }
}

/// Output of `git diff`, `grep -n` and `git blame`, with `{}` for each value.
const PRINTED: [&str; 22] = [
    "@@ -1,4 +1,4 @@\n env:\n - name: DB_PASSWORD\n-  value: \"{}1\"\n+  value: \"{}2\"\n - name: A\n",
    "+- name: DB_PASSWORD\n+  value: {}1\n+- name: A\n+  value: b\n",
    " variable \"db_password\" {\n   type = string\n-  default = \"{}1\"\n+  default = \"{}2\"\n }\n",
    " \t<key>Password</key>\n-\t<string>{}1</string>\n+\t<string>{}2</string>\n",
    "   \"ParameterKey\": \"DBPassword\",\n-  \"ParameterValue\": \"{}1\"\n+  \"ParameterValue\": \"{}2\"\n",
    "   password: |\n-    {}1\n+    {}2\n",
    "k.yaml:2:- name: DB_PASSWORD\nk.yaml-3-  value: \"{}1\"\n",
    "a1b2c3d4 (Me 2024-01-02 03:04:05 +0100 2) - name: DB_PASSWORD\na1b2c3d4 (Me 2024-01-02 03:04:05 +0100 3)   value: {}1\n",
    "a1b2c3d4 (Me (x) Y 2024-01-02 03:04:05 +0100 2) - name: DB_PASSWORD\n^1b2c3d4 (Me (x) Y 2024-01-02 03:04:05 +0100 3)   value: {}1\n",
    "a1b2c3d4 2)   - name: DB_PASSWORD\na1b2c3d4 3)     value: {}1\n",
    "++  - name: DB_PASSWORD\n -    value: {}1\n-     value: {}2\n++    value: {}3\n",
    "   - name: DB_PASSWORD\n-     value: {}1\n -    value: {}2\n++    value: {}3\n",
    "HEAD:k.yaml:2:  - name: DB_PASSWORD\nHEAD:k.yaml:3:    value: {}1\n",
    "k.yaml:2:5:  - name: DB_PASSWORD\nk.yaml:3:6:    value: {}1\n",
    "a b/k.yaml:2:  - name: DB_PASSWORD\na b/k.yaml:3:    value: {}1\n",
    "k.yaml:  - name: DB_PASSWORD\nk.yaml-    value: {}1\n",
    "| * | +  - name: DB_PASSWORD\n| | | +    value: {}1\n",
    "  +  - name: DB_PASSWORD\n  +    value: {}1\n",
    "|   -  - name: DB_PASSWORD\n|   -    value: {}1\n",
    "| |    - name: DB_PASSWORD\n| |  -    value: {}1\n| |  +    value: {}2\n",
    "> - name: DB_PASSWORD\n>   value: {}1\n",
    "author-tz +0100\nfilename k.yaml\n\t  - name: DB_PASSWORD\n0123456789012345678901234567890123456789 3 3\nauthor Me\nauthor-mail <m@x>\nauthor-time 1\nauthor-tz +0100\ncommitter Me\ncommitter-mail <m@x>\ncommitter-time 1\ncommitter-tz +0100\nsummary name: A\nboundary\nfilename k.yaml\n\t    value: {}1\n",
];

/// The text that tools print before a line, with `{}` for the line.
const IN_FRONT: [&str; 20] = [
    "++{}",
    " +{}",
    " -{}",
    "- {}",
    "> {}",
    "< {}",
    "| +{}",
    "  +{}",
    "| |   -{}",
    "| * | -{}",
    "r.conf:{}",
    "r.conf-{}",
    "a b/r.conf:{}",
    "a b/r.conf:3:{}",
    "r.conf:3:1:{}",
    "HEAD:r.conf:{}",
    "HEAD:a/r.conf:3:{}",
    "a1b2c3d4 3) {}",
    "^1b2c3d4 r.conf 3) {}",
    "a1b2c3d4 (Ann (of 2) B 2024-01-02 03:04:05 +0100 3) {}",
];

#[test]
fn forms_that_begin_a_line_are_hidden_in_what_tools_print() {
    for (form, line) in
        IN_FRONT.iter().flat_map(|form| ["requirepass {}", "ENV DB_PASSWORD {}"].map(|line| (form, line)))
    {
        let text = format!("{}\n", form.replace("{}", &line.replace("{}", "r3disPwq7")));
        let masked = secrets().mask(&text).into_owned();
        assert_eq!(masked, text.replace("r3disPwq7", "⟦secret:password-assignment:1⟧"));
        // The control: the same word after another.
        let other = format!("{}\n", form.replace("{}", "the requirepassword r3disPwq7 of it"));
        assert_eq!(Detector::usual().find(&other), [], "{other}");
    }
}

#[test]
fn a_value_below_its_name_is_hidden_in_what_tools_print() {
    for form in PRINTED {
        let text = form.replace("{}", &value());
        let masked = secrets().mask(&text).into_owned();
        assert!(!masked.contains(&value()), "{masked}");
        assert_eq!(masked.matches("⟦secret:").count(), form.matches("{}").count(), "{masked}");
        // The control: a name of something else.
        let other = text.to_lowercase().replace("password", "hostname");
        assert_eq!(Detector::usual().find(&other), [], "{other}");
    }
    // The control: the value of the next element.
    for text in [
        " - name: DB_PASSWORD\n-  secret: true\n - name: A\n-  value: kX7qzWm2Rt9xB4\n",
        "- name: DB_PASSWORD\n- value: kX7qzWm2Rt9xB4\n",
        "+- name: DB_PASSWORD\n+- name: A\n+  value: kX7qzWm2Rt9xB4\n",
        "++- name: DB_PASSWORD\n++- name: A\n++  value: kX7qzWm2Rt9xB4\n",
        "k.yaml:- name: DB_PASSWORD\nother.yaml:  value: kX7qzWm2Rt9xB4\n",
        "k.yaml:- name: DB_PASSWORD\nk.yaml:- name: A\nk.yaml:  value: kX7qzWm2Rt9xB4\n",
    ] {
        assert_eq!(Detector::usual().find(text), [], "{text}");
    }
}

#[test]
fn a_window_without_the_name_hides_the_value() {
    let text = format!("- name: DB_PASSWORD\n  value: {}\n- name: A\n  value: a1b2c3d4-e5\n", value());
    let masked = over([("a.yaml", text)]);
    assert_eq!(read(&masked, "a.yaml", Some((2, 2))), "  value: ⟦secret:password-assignment:1⟧\n");
    // The control: a value of another name.
    assert_eq!(read(&masked, "a.yaml", Some((4, 4))), "  value: a1b2c3d4-e5\n");
}

/// Values that are hidden only below their name.
const ONLY_BELOW: [&str; 7] = [
    "Postgres123",
    "correct-horse-battery-7",
    "Acme-Prod-2024",
    "admin@1234",
    "MyDatabasePass99",
    "pLkMwQzXvB",
    "postgres",
];

#[test]
fn a_part_of_a_file_hides_what_the_whole_file_hides() {
    let forms = BELOW.iter().filter(|form| !form.contains("{}{}"));
    let mut compared = 0;
    for (form, value) in forms.flat_map(|form| ONLY_BELOW.map(|value| (form, value))) {
        let text = format!("a: b\n{}", form.replace("{}", value));
        let masked = over([("a.yaml", text.clone())]);
        let whole = read(&masked, "a.yaml", None);
        let lines: Vec<&str> = whole.lines().collect();
        for first in 1..=lines.len() {
            let begin = i64::try_from(first).unwrap();
            for last in first..=lines.len() {
                let masked = over([("a.yaml", text.clone())]);
                let part = read(&masked, "a.yaml", Some((begin, i64::try_from(last).unwrap())));
                let visible: Vec<&str> = part.lines().collect();
                assert_eq!(visible, lines[first - 1..last], "{form}");
            }
        }
        compared += usize::from(!whole.contains(value));
        let masked = over([("a.yaml", text.clone())]);
        let query = SearchFiles { context_lines: Some(0), ..search("\\S", QueryType::Regex) };
        let hits = with_call(0, |call| masked.search_files(call, &query)).unwrap();
        for hit in &hits.matches {
            let index = usize::try_from(hit.line).unwrap() - 1;
            assert_eq!(hit.match_text, lines[index], "{form}");
        }
        assert_eq!(hits.matches.len(), lines.iter().filter(|line| !line.is_empty()).count());
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn a_refusal_that_quotes_lines_below_a_name_hides_them() {
    let text = "env:\n- name: DB_PASSWORD\n\n\n\n  value: correct-horse-battery-7\n- name: A\n  value: b\n";
    let refused = |line: i64| {
        let masked = over([("a.yaml", text.to_owned())]);
        let operations = vec![ModifyOperation::Replace {
            start_line: line,
            end_line: line,
            new_content: "  value: c".into(),
            was: Some("nothing like it".into()),
        }];
        let request = ModifyFile { path: "a.yaml".into(), operations, ..ModifyFile::default() };
        format!("{:?}", with_call(1, |call| masked.modify_file(call, &request)).unwrap_err())
    };
    let error = refused(8);
    assert!(error.contains("value: b") && !error.contains("horse"), "{error}");
}

#[test]
fn an_edit_that_removes_the_name_alone_is_refused() {
    // A value that is hidden only below its name.
    let text = "- name: DB_PASSWORD\n  value: correct-horse-battery-7\n- name: A\n  value: b\n";
    let remove = |line: i64| {
        let masked = over([("a.yaml", text.to_owned())]);
        let visible = read(&masked, "a.yaml", None);
        assert!(!visible.contains("horse"), "{visible}");
        let operations = vec![ModifyOperation::Delete { start_line: line, end_line: line, was: None }];
        let request = ModifyFile { path: "a.yaml".into(), operations, ..ModifyFile::default() };
        with_call(1, |call| masked.modify_file(call, &request))
            .map(|_| masked.inner().text("a.yaml").unwrap())
    };
    assert_eq!(remove(1).unwrap_err().reason(), Reason::Protected);
    // The control: another line.
    assert_eq!(remove(4).unwrap(), text.replace("  value: b\n", ""));
}
