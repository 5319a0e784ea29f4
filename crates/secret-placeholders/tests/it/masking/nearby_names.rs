//! Passwords that equal the name of a user or a database.

use crate::over_workspace::{over, read};

/// Settings with `{}` for the name and the password.
const SETTINGS: [&str; 5] = [
    "      - POSTGRES_USER={}\n      - POSTGRES_PASSWORD={}\n      - POSTGRES_DB={}\n",
    "MYSQL_PASSWORD={}\nMYSQL_DATABASE={}\n",
    "{\"username\": \"{}\", \"password\": \"{}\"}\n",
    "db:\n  user: {}\n  password: '{}'\n",
    "DATABASE_URL=postgres://{}:{}@db/app\n",
];

#[test]
fn a_password_that_is_a_name_next_to_it_is_hidden_only_in_its_field() {
    let code = |name: &str| format!("from {name}.core import models\n");
    for (form, name) in
        SETTINGS.iter().flat_map(|form| ["vue3admin", "shop2api", "b2bportal"].map(|name| (form, name)))
    {
        let masked = over([("a", form.replace("{}", name)), ("b", code(name))]);
        let settings = read(&masked, "a", None);
        assert_eq!(settings.matches("⟦secret:name-as-password:1⟧").count(), 1, "{settings}");
        assert_eq!(settings.matches(name).count(), form.matches("{}").count() - 1, "{settings}");
        assert_eq!(read(&masked, "b", None), code(name));
        // The control: a password that equals no name is hidden everywhere.
        let other = form.replacen("{}", "admin", 1).replace("{}", name).replace(&format!("DB={name}"), "");
        let other = other
            .replace(&format!("DATABASE={name}"), "DATABASE=a")
            .replace("admin\nMYSQL", &format!("{name}\nMYSQL"));
        let masked = over([("a", other), ("b", code(name))]);
        assert!(!read(&masked, "a", None).contains(name), "{form}");
        assert!(!read(&masked, "b", None).contains(name), "{form}");
    }
}
