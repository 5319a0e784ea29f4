//! Private keys as JSON, and in forms that programs print and store.

use super::in_each_way;
use super::quoted::body;
use crate::masking::secrets;

/// A field of a key: as random as one, with the characters of an address.
fn field(at: usize) -> String {
    body(400)[at..at + 43].replace('+', "-").replace('/', "_")
}

#[test]
fn the_secret_fields_of_a_key_in_json_are_hidden_and_the_public_ones_are_not() {
    let (d, n, x) = (field(40), field(100), field(160));
    let forms = [
        format!("{{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"{n}\",\"d\":\"{d}\",\"alg\":\"RS256\"}}\n"),
        format!("{{\"d\":\"{d}\",\"x\":\"{x}\",\"n\":\"{n}\",\"crv\":\"P-256\",\"kty\":\"EC\"}}\n"),
        format!("{{\n  \"kty\": \"OKP\",\n  \"d\": \"{d}\",\n  \"x\": \"{x}\",\n  \"n\": \"{n}\"\n}}\n"),
        format!("\"{{\\\"kty\\\":\\\"oct\\\",\\\"n\\\":\\\"{n}\\\",\\\"k\\\":\\\"{d}\\\"}}\"\n"),
        // With objects in it, on both sides, and the field on either side of the type.
        format!("{{\"kty\":\"RSA\",\"meta\":{{\"a\":1}},\"n\":\"{n}\",\"d\":\"{d}\"}}\n"),
        format!("{{\"d\":\"{d}\",\"n\":\"{n}\",\"meta\":{{\"a\":{{}}}},\"kty\":\"RSA\"}}\n"),
        format!("{{\"kty\":\"RSA\",\"n\":\"{n}\",\"oth\":[{{\"r\":\"{n}\",\"d\":\"{d}\"}}]}}\n"),
        // Cut at either end.
        format!("\"e\":\"AQAB\",\"kty\":\"RSA\",\"n\":\"{n}\",\"d\":\"{d}\",\"a\":{{\n"),
        format!("\"d\":\"{d}\",\"n\":\"{n}\",\"kty\":\"RSA\"}}]}}\n"),
    ];
    let escaped =
        |text: &str| format!("\"{}\"\n", text.trim_end().replace('\\', "\\\\").replace('"', "\\\""));
    let twice = escaped(&escaped(&forms[0]));
    for text in forms.iter().chain([&twice, &escaped(&twice)]) {
        for (way, visible) in in_each_way(text) {
            assert!(!visible.contains(&d[..12]), "{way}: {visible}");
            assert!(visible.contains(&n), "{way}: {visible}");
        }
        let masker = secrets();
        assert_eq!(masker.restore(&masker.mask(text)).unwrap(), *text);
    }
    // The controls: a public key, a field of that name in other data, and one in an object next to a key.
    for text in [
        format!("{{\"kty\":\"EC\",\"x\":\"{x}\",\"y\":\"{n}\"}}\n"),
        format!("{{\"d\":\"{d}\",\"type\":\"RSA\"}}\n"),
        format!("[{{\"kty\":\"EC\",\"x\":\"{x}\"}},{{\"d\":\"{d}\"}}]\n"),
        format!("{{\"a\":{{\"d\":\"{d}\"}},\"key\":{{\"kty\":\"EC\",\"x\":\"{x}\"}}}}\n"),
        format!("{{\"kty\":\"EC\",\"x\":\"{x}\",{}\"d\":\"{d}\"}}\n", "\"a\": 1,\n".repeat(2_100)),
    ] {
        assert_eq!(secrets().mask(&text), text);
    }
}

#[test]
fn the_secret_fields_of_a_printed_or_stored_key_are_hidden() {
    let (d, n) = (field(40), field(100));
    for form in [
        "{'kty': 'RSA', 'n': 'N', 'd': 'D'}\n",
        "const key = { kty: 'RSA', n: 'N', d: 'D' };\n",
        "const key = {\n  kty: \"RSA\",\n  n: \"N\",\n  d: \"D\",\n};\n",
        "keys:\n- kty: RSA\n  n: N\n  d: D\n  e: AQAB\n",
        "d: D\nkty: \"RSA\"\nn: N\n",
        "[key]\nkty = \"RSA\"\nn = \"N\"\nd = \"D\"\n",
        "['kty' => 'RSA', 'n' => 'N', 'd' => 'D']\n",
        "{:kty=>\"RSA\", :n=>\"N\", :d=>\"D\"}\n",
        "+kty: RSA\n+n: N\n+d: D\n",
        "-kty: RSA\n-n: N\n-d: D\n",
        "     1\tkty: RSA\n     2\tn: N\n     3\td: D\n",
        "f.yml:1:kty: RSA\nf.yml:2:n: N\nf.yml:3:d: D\n",
        "\u{1b}[32mkty\u{1b}[m: RSA\nn: N\n\u{1b}[31md\u{1b}[m: D\n",
    ] {
        let text = form.replace('N', &n).replace('D', &d);
        // Line by line, a field before the type is shown before the type is known.
        let is_whole = |way: &str| way != "stream" || !form.starts_with('d');
        for (way, visible) in in_each_way(&text).into_iter().filter(|(way, _)| is_whole(way)) {
            assert!(!visible.contains(&d[..12]), "{way}: {visible}");
            assert!(visible.contains(&n), "{way}: {visible}");
        }
        // The control: without the type of a key, nothing of it is hidden.
        let other = text.replace("kty", "type");
        assert_eq!(secrets().mask(&other), other);
    }
    for ordinary in [
        "kty: RSA\nd: the-name-of-a-long-field-of-words\nk: kubernetes-service-account\n",
        "if jwk.kty == 'RSA' { let p = computeThePrimesOfThisKey(); let d = p; }\n",
        "switch (kty) { case 'RSA': q = queryParametersOfThisRequest2; }\n",
        "sticky: RSA\nd: D\n",
    ] {
        let ordinary = ordinary.replace('D', &d);
        assert_eq!(secrets().mask(&ordinary), ordinary);
    }
}
