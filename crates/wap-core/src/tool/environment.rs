//! The variables of a command as they arrive: `{"NAME": "value"}`, or `[{"name": "NAME", "value": "value"}]`.
//!
//! The list is a form that strict schemas can describe: they do not allow an object with arbitrary names.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

// One variable of the list form. No documentation, which would make every client's list of tools longer.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Variable {
    name: String,
    value: String,
}

// Both forms, for the schema.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "only the schema is made of it")]
pub(crate) enum EnvironmentForm {
    // Values by name.
    Map(BTreeMap<String, String>),
    // Names with values.
    List(Vec<Variable>),
}

/// Reads either form, or `null`. A name that occurs twice in a list is refused.
pub(crate) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    deserializer.deserialize_any(EnvironmentVisitor)
}

struct EnvironmentVisitor;

impl<'de> Visitor<'de> for EnvironmentVisitor {
    type Value = Option<BTreeMap<String, String>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of texts, or a list of objects with 'name' and 'value'")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut variables = BTreeMap::new();
        while let Some((name, value)) = map.next_entry()? {
            variables.insert(name, value);
        }
        Ok(Some(variables))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut variables = BTreeMap::new();
        while let Some(Variable { name, value }) = list.next_element()? {
            // In an object the parser keeps the last value; in a list, a repeated name is more likely a mistake.
            if variables.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the variable '{name}' is given twice")));
            }
            variables.insert(name, value);
        }
        Ok(Some(variables))
    }
}
