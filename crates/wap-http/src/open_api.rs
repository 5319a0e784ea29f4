//! The OpenAPI document, made from the schemas of the tools.

use serde_json::{Map, Value, json};
use wap_core::{GUIDELINES, Tool, WapError};

/// Returns the document of a server that may need a token.
pub(crate) fn document(needs_token: bool) -> Value {
    let mut schemas = Map::new();
    let error = add(&mut schemas, wap_core::schema_of::<WapError>());
    let mut paths = Map::new();
    for tool in Tool::ALL {
        let request = add(&mut schemas, tool.request_schema());
        let response = add(&mut schemas, tool.response_schema());
        paths.insert(
            format!("/v1/tools/{}", tool.name()),
            json!({ "post": operation(tool, &request, &response) }),
        );
    }
    let info = schemas.get("WorkspaceInfo").map(|_| json!({ "$ref": "#/components/schemas/WorkspaceInfo" }));
    let mut rest = json!({
        "/v1/info": { "get": {
            "operationId": "info",
            "summary": "The workspace and its limits",
            "responses": { "200": answer("The workspace.", &info.unwrap_or_default()) }
        } },
        "/v1/openapi.json": { "get": {
            "operationId": "openApi",
            "summary": "This document",
            "responses": { "200": answer("The document.", &json!({ "type": "object" })) }
        } },
        "/metrics": { "get": {
            "operationId": "metrics",
            "summary": "Figures in the text format of Prometheus",
            "responses": { "200": plain_text("The figures.") }
        } },
        "/": { "get": {
            "operationId": "root",
            "summary": "Tells that the server is there",
            "security": [],
            "responses": { "200": plain_text("The program and its version.") }
        } },
        "/healthz": { "get": {
            "operationId": "health",
            "summary": "Tells that the server is well",
            "security": [],
            "responses": { "200": answer("It is.", &json!({
                "type": "object", "properties": { "status": { "const": "ok" } }, "required": ["status"]
            })) }
        } }
    });
    if let Some(rest) = rest.as_object_mut() {
        // The guard may refuse each of these, even those without other failures.
        for item in rest.values_mut() {
            item["get"]["responses"]["default"] = answer("A refusal.", &error);
        }
        paths.append(rest);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "agentd",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "The Workspace Agent Protocol 1.0 over HTTP",
            "description": GUIDELINES,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" }
        },
        "paths": paths,
        "components": {
            "schemas": schemas
        }
    });
    if needs_token {
        document["components"]["securitySchemes"] =
            json!({ "token": { "type": "http", "scheme": "bearer" } });
        document["security"] = json!([{ "token": [] }]);
    }
    document
}

fn operation(tool: Tool, request: &Value, response: &Value) -> Value {
    // A tool without required arguments accepts an empty body or `null`.
    let is_required = tool.request_schema().get("required").is_some();
    let nothing = json!({ "anyOf": [request, { "type": "null" }] });
    let request = if is_required { request } else { &nothing };
    json!({
        "operationId": tool.name(),
        "summary": tool.title(),
        "description": tool.description(),
        "parameters": [{
            "name": "Agentd-Conversation",
            "in": "header",
            "description": "Whose line numbers these are: requests of one conversation share what was shown.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$" }
        }],
        "requestBody": { "required": is_required, "content": { "application/json": { "schema": request } } },
        "responses": {
            "200": answer("The tool's response.", response),
            "default": answer("A failure; `details.reason` says which.", &json!({ "$ref": "#/components/schemas/WapError" }))
        }
    })
}

fn answer(description: &str, schema: &Value) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

fn plain_text(description: &str) -> Value {
    json!({ "description": description, "content": { "text/plain": { "schema": { "type": "string" } } } })
}

/// Adds a schema and its definitions, and returns a reference to it. A schema without a title is returned unchanged.
fn add(schemas: &mut Map<String, Value>, mut schema: Value) -> Value {
    point_to_components(&mut schema);
    let Some(object) = schema.as_object_mut() else { return schema };
    object.remove("$schema");
    // Definitions are named after their types, so that schemas with the same type share a definition.
    if let Some(Value::Object(definitions)) = object.remove("$defs") {
        schemas.extend(definitions);
    }
    let Some(Value::String(title)) = object.remove("title") else { return schema };
    let reference = json!({ "$ref": format!("#/components/schemas/{title}") });
    schemas.insert(title, schema);
    reference
}

fn point_to_components(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.get_mut("$ref")
                && let Some(name) = target.strip_prefix("#/$defs/")
            {
                *target = format!("#/components/schemas/{name}");
            }
            object.values_mut().for_each(point_to_components);
        }
        Value::Array(items) => items.iter_mut().for_each(point_to_components),
        _ => {}
    }
}
