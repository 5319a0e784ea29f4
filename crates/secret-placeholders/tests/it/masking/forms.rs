//! The forms of values in files, and ordinary lines that look like them.

use crate::keys::in_each_way;
use crate::masking::secrets;

/// Lines with a value in them, and the kind of its placeholder. The values are put together in the test, so that no scanner takes this
/// file for a leak.
const FORMS: [(&str, &str, &str); 91] = [
    ("{\"password\": \"{}\"}", "kX7q+zWm2Rt9", "password-assignment"),
    ("{'password': '{}'}", "kX7q+zWm2Rt9", "password-assignment"),
    ("    'db_password' => '{}',", "kX7q+zWm2Rt9", "password-assignment"),
    ("{\"user\":\"a\",\"PASSWORD\":\"{}\"}", "kXqzWmTrpLsN", "password-assignment"),
    ("\"{\\\"passwd\\\": \\\"{}\\\"}\"", "kX7q+zWm2Rt9", "password-assignment"),
    ("{\"client_secret\": \"{}\"}", "kX7qzWm2Rt9kX7qzWm2", "generic-secret"),
    ("{\"clientSecret\":\"{}\"}", "kX7qzWm2Rt9kX7qzWm2", "generic-secret"),
    ("{\"api_key\": \"{}\"}", "kX7qzWm2Rt9kX7qzWm2Rt9", "generic-api-key"),
    ("'apiKey': '{}'", "kX7qzWm2Rt9kX7qzWm2Rt9", "generic-api-key"),
    ("//registry.npmjs.org/:_authToken={}", "kX7qzWm2Rt9kX7qzWm2Rt9", "npm-auth-token"),
    ("npm config set //h/:_authToken=\"{}\"", "0a1B2c3d-4e5F-6071-8293-a4b5c6d7e8f9", "npm-auth-token"),
    ("_password={}", "a1g3cXpXbTJSdDlrWDdxeldt==", "npm-auth-token"),
    ("HF_TOKEN=hf_{}", "kX7qzWm2Rt9kX7qzWm2Rt9kX7qzWm2Rt9X", "hugging-face-token"),
    ("key: sk-proj-{}", "kX7qzWm2-t9kX7qz_m2Rt9kX7qzWm2Rt9", "openai-key"),
    ("key: sk-ant-{}", "api03-kX7qzWm2-t9kX7qz_m2Rt9kX7qzWm2Rt9AA", "anthropic-key"),
    ("refresh: ghr_{}", "kX7qzWm2Rt9kX7qzWm2Rt9kX7qzWm2Rt9kX7qzWm2", "github-refresh-token"),
    ("token: glpat-{}", "kX7qzWm2Rt9kX7qzWm2Rt9kX7qz.01.0w1abcd23", "gitlab-token"),
    ("curl -H 'Authorization: Bearer {}' h", "kX7qzWm2Rt9kX7qzWm2Rt9", "bearer-token"),
    ("authorization: bearer {}", "0123456789abcdef0123456789abcdef", "bearer-token"),
    ("{\"Authorization\": \"Basic {}\"}", "bWU6a1g3cXpXbTJSdDk=", "basic-auth"),
    ("{\"auths\":{\"h\":{\"auth\":\"{}\"}}}", "bWU6a1g3cXpXbTJSdDk=", "docker-login"),
    ("      \"auth\": \"{}\"", "bWU6a1g3cXpXbTJSdDk=", "docker-login"),
    ("{\"url\":\"https:\\/\\/deploy:{}@git.host\\/x\"}", "kX7qzWm2", "address-password"),
    ("{\"url\":\"https://u:{}@host\"}", "kX7q\\u0026zWm2", "address-password"),
    ("url=https\\://svc\\:{}@host", "kX7qzWm2", "address-password"),
    ("git clone https://u:{}@host/x", "kX<7qzWm2", "address-password"),
    ("git clone ssh://u:{}@host/x", "kX/7qzWm2", "address-password"),
    ("url: https://u:{}@host", "{kX7qzWm2", "address-password"),
    ("url: https://u:{}@host", "Q7xxxxLatest", "address-password"),
    ("url: https://{}:x-oauth-basic@github.com", "kX7qzWm2Rt9kX7qzWm2", "address-password"),
    ("url: https://{}:@github.com", "kX7qzWm2Rt9kX7qzWm2", "address-password"),
    ("dsn = \"svc:{}@tcp(127.0.0.1:3306)/db\"", "kX7qzWm2", "address-password"),
    ("smtp://me@corp.io:{}@mail:587", "kX7qzWm2", "address-password"),
    ("{\"password\": \"{}\"}", "it's-A-secret99x", "password-assignment"),
    ("password = \"{}\"", "longenough1'rest-of-it", "password-assignment"),
    ("password = '{}'", "longenough1\"rest-of-it", "password-assignment"),
    ("{\"password\": \"{}\"}", "k7Qz\\u0026Wm2Rt9!x", "password-assignment"),
    ("password = \"{}\"", "k7Qz\\\"Wm2Rt9!x", "password-assignment"),
    ("\"{\\\"password\\\": \\\"{}\\\"}\"", "k7Qz\\\\\\\"Wm2Rt9!x", "password-assignment"),
    ("password: '{}'", "it''s-A-secret99x", "password-assignment"),
    ("{\"password\": \"{}\"}", "aB3(xY9kQz7wTn2R", "password-assignment"),
    ("{\"password\": \"{}\"}", "aB3|xY9kQz7wTn2R", "password-assignment"),
    ("{\"password\": \"{}\"}", "/aB3xY9kQz7wTn2R", "password-assignment"),
    ("{\"password\": \"{}\"}", ".k7QzWm2Rt9x", "password-assignment"),
    ("{\"password\": \"{}\"}", "~k7QzWm2Rt9x", "password-assignment"),
    ("{\"password\": \"{}\"}", "{k7QzWm2Rt9x}", "password-assignment"),
    ("{\"password\": \"{}\"}", "P@ssw0rd(1)", "password-assignment"),
    ("{\"password\": \"{}\"}", "MyDogRexIsGreat2", "password-assignment"),
    ("{\"password\": \"{}\"}", "correct horse battery staple 7", "password-assignment"),
    ("{\"password\": \"{}\"}", "xqvtzkwpbnrmhgfd", "password-assignment"),
    ("password = '{}'", "Reply to: 6723d473-2", "password-assignment"),
    ("password = '{}'", "[OK] A READ FILE:", "password-assignment"),
    ("UID=sa;PWD={};", "k7QzWm2Rt9x", "password-assignment"),
    ("PWD=\"{}\"", "k7QzWm2Rt9x", "password-assignment"),
    ("secret = {}", "abCD12efGH34ijKL56+/mnOP78qr==", "generic-secret"),
    ("{\"client_secret\": \"{}\"}", "JNS8Q~Ok7Qz.Wm2Rt9kX7qzWm2Rt9-kX7qzWm", "generic-secret"),
    ("CLIENT_SECRET={}", "JNS8Q~Ok7Qz.Wm2Rt9kX7qzWm2Rt9-kX7qzWm", "generic-secret"),
    ("HF_TOKEN={}", "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", "hugging-face-token"),
    ("HF_TOKEN={}", "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", "hugging-face-token"),
    ("//registry.example/:_authToken={}", "3b1c4d5e-1234-4abc-9def-0123456789ab", "npm-auth-token"),
    ("npmAuthToken: \"{}\"", "3b1c4d5e-1234-4abc-9def-0123456789ab", "npm-auth-token"),
    ("Authorization: Bearer {}", "3b1c4d5e-1234-4abc-9def-0123456789ab", "bearer-token"),
    ("Authorization: Bearer {}", "k7qzwm2rt9kx7qzwm2rt9", "bearer-token"),
    ("authorization => \"Basic {}\"", "bWU6a1g3cXpXbTJSdDk=", "basic-auth"),
    ("{\"auths\":{\"h\":{\"auth\":\"{}\"}}}", "bWU6a8OkWDfDqXF6V23DnzI=", "docker-login"),
    ("{\"identitytoken\": \"{}\"}", "3b1c4d5e-1234-4abc-9def-0123456789ab", "docker-identity-token"),
    ("x;AccountName=a;AccountKey={};EndpointSuffix=h", AZURE_KEY, "azure-storage-key"),
    ("Endpoint=sb://h/;SharedAccessKey={}", SHARED_KEY, "azure-shared-key"),
    ("\\\"aws_secret_access_key\\\": \\\"{}\\\"", AWS_KEY, "aws-secret-key"),
    ("AWS_SECRET_ACCESS_KEY={};", AWS_KEY, "aws-secret-key"),
    ("\"SecretAccessKey\": \"{}\"", AWS_KEY, "aws-secret-key"),
    ("PrivateKey = {}", WIREGUARD_KEY, "wireguard-key"),
    ("{\"t\":\"{}\"}", JSON_WEB_TOKEN, "json-web-token"),
    ("t: ya29.{}", "a0AfH6SMBkX7qzWm2Rt9kX7qzWm2Rt9kX7qz", "google-token"),
    ("t: dckr_pat_{}", "kX7qzWm2Rt9kX7qzWm2Rt9kX7qz", "docker-token"),
    ("t: glsa_{}", "kX7qzWm2Rt9kX7qzWm2Rt9kX7qzWm2Rt_0a1b2c3d", "grafana-token"),
    ("t: shpat_{}", "0123456789abcdef0123456789abcdef", "shopify-token"),
    ("t: xapp-{}", "1-A0123BCDEF-1234567890123-0123456789abcdef0123456789abcdef", "slack-token"),
    ("t: xoxe.xoxp-1-{}", "kX7qzWm2Rt9kX7qzWm2Rt9kX7qzWm2Rt9kX7qz", "slack-token"),
    ("AGE-SECRET-KEY-1{}", "QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQY", "age-key"),
    ("\"passphrase\": \"{}\"", "kX7q+zWm2Rt9", "password-assignment"),
    ("SECRET_KEY = config('SECRET_KEY', default='{}')", "k7(qz=wm2rt9x+p-y_1b&n", "generic-secret"),
    ("DB = env('DB_PASSWORD', default='{}')", "kX7q+zWm2Rt9", "password-assignment"),
    ("p = config('DB_PASSWORD', cast=str, default=\"{}\")", "kX7q+zWm2Rt9", "password-assignment"),
    ("p = os.environ.get(\"DB_PASSWORD\", default=\"{}\")", "kX7q+zWm2Rt9", "password-assignment"),
    ("    password: str = Field(..., default=\"{}\")", "kX7q+zWm2Rt9", "password-assignment"),
    ("@click.option(\"--password\", \"-p\", default=\"{}\")", "kX7q+zWm2Rt9", "password-assignment"),
    ("r = get(url, auth = (\"me\", \"{}\"))", "kX7q+zWm2Rt9", "login"),
    ("TOKEN={}", "kXqzWmTrpLsNbVgHjQwZ", "generic-token"),
    ("{\"accessToken\": \"{}\"}", "kXqzWmTrpLs7NbVgHjQw", "generic-token"),
    ("secret: {}", "correct-horse-battery-7", "generic-secret"),
];

/// Values that are longer.
const AZURE_KEY: &str =
    "kX7qzWm2Rt9+kX7qzWm2Rt9/kX7qzWm2Rt9kkX7qzWm2Rt9kkX7qzWm2Rt9kkX7qzWm2Rt9kkX7qzWm2Rt9k7A==";
const SHARED_KEY: &str = "kX7qzWm2Rt9+kX7qzWm2Rt9/kX7qzWm2Rt9kkX7qzWm=";
const AWS_KEY: &str = "kX7qzWm2Rt9+kX7qzWm2Rt9/kX7qzWm2Rt9kkX7q";
const WIREGUARD_KEY: &str = "kX7qzWm2Rt9+kX7qzWm2Rt9/kX7qzWm2Rt9kkX7qzWk=";
const JSON_WEB_TOKEN: &str =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJrWDdxeldtMlJ0OSJ9.kX7qzWm2Rt9kX7qzWm2Rt9kX7qzWm2Rt9kX7q";

/// Ordinary lines: labels, types, templates, names of variables, examples, prose.
const ORDINARY: [&str; 75] = [
    "{\"password\": \"string\"}",
    "{\"password\": \"\"}",
    "  password: process.env.DATABASE_PASSWORD,",
    "  \"password\": \"Passwort\",",
    "  \"password\": \"Contraseña\",",
    "  \"password\": \"Mot de passe\",",
    "  \"password\": \"Passwort (mind. 8 Zeichen)\",",
    "  \"password\": \"required|string|min:8\",",
    "  \"password\": \"varchar(255)\",",
    "  \"password\": \"auth.form.password.label\",",
    "  \"password\": \"current-password\",",
    "  \"password\": { \"type\": \"string\", \"minLength\": 12 },",
    "  \"password\": \"${DB_PASSWORD}\",",
    "  \"password\": \"{{ vault_password }}\",",
    "  \"password\": \"#{ENV['DB_PASS']}\",",
    "  \"password\": \"********\",",
    "  \"password\": \"changeme\",",
    "  \"pwd\": \"/home/me/project1\",",
    "  'secret': 'V1SecretVolumeSource',",
    "\"{\\\"a\\\":\\\"redis://cache:main\\\",\\\"b\\\":\\\"me@corp.io\\\"}\",",
    "  'password': forms.CharField(widget=forms.PasswordInput),",
    "  \"secret\": \"kubernetes.io/service-account-token\",",
    "  \"secret\": \"my-application-secret-name\",",
    "  \"client_secret\": \"YOUR_CLIENT_SECRET_HERE\",",
    "  \"client_secret\": \"clientSecretOfTheApplication\",",
    "  \"api_key\": \"your-api-key-goes-here-please\",",
    "  \"api_key\": \"$API_KEY_FROM_ENVIRONMENT\",",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    "db_password = getPassword2FromStandardInput",
    "import hf_hub_download_with_a_long_name_of_words",
    "class sk-proj-container-of-the-navigation-bar",
    ".sk-ant-design-button-with-a-long-name-of-css",
    "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
    "'Authorization': `Bearer ${accessTokenOfTheUser1}`",
    "the bearer abcdefghijklmnopqrstuvwxyz of a letter",
    "  \"auth\": \"authentication\",",
    "  \"auth\": \"oauth2clientcredentials\",",
    "f\"postgresql://{DB_USER}:{DB_PASS}@{HOST}/app\"",
    "`mongodb://${user}:${pass}@localhost`",
    "mysql://%s:%s@%s/app",
    "redis://:#{ENV['REDIS_PASS']}@localhost",
    "postgres://<user>:<pass>@<host>/app",
    "sqlserver://USER:REPLACE_ME@host",
    "https://USER:PASSWORD@HOST",
    "https://User:Password@host",
    "amqp://guest:guest@localhost:5672",
    "https://u:%TOKEN%@host",
    "https://%1$s:%2$s@host",
    "https://x:$env:TOKEN@host",
    "https://x:REDACTED@host",
    "https://me:••••@host",
    "[a](http://localhost:3000)[b](mailto:me@corp.io)",
    "http://h1:8080,me@corp.io",
    "http://localhost:%d/api/@me",
    "pip install git+https://git@github.com:o/r.git@v1",
    "<a href=\"http://localhost:3000\">me@corp.io</a>",
    "fmt.Sprintf(\"%s:%s@tcp(%s)/%s\", user, password, host, name)",
    "      - \"5432:5432\"  # see postgres://localhost:5432/app",
    "const url = \"http://\" + user + \":\" + word + \"@host\";",
    "https://docs.example.com/a:b@c",
    "SECRET_KEY = config('SECRET_KEY', default='the-secret-of-an-application')",
    "@click.option(\"--password\", default=\"Enter password\")",
    "parser.add_argument('--token', type=str, default='access_token_of_user')",
    "  author = (\"me\", \"kX7q+zWm2Rt9\")",
    "const token = \"accessTokenOfTheCurrentUser\"",
    "  password={formState.password1}",
    "  password={passwords[0]}",
    "  bind:password={form.password1}",
    "  :password={values?.password2}",
    "  existingSecret: my-release-postgresql-2",
    "  imagePullSecret: registry-credentials-eu-west-1",
    "- secret: app-database-credentials-v2",
    "DB_PASSWORD: vault:secret/data/db1#password",
    "  password: \"vault:secret/data/mysql1#MYSQL_PASSWORD\"",
    "  password: \"@Microsoft.KeyVault(SecretUri=https://v1.vault.azure.net/secrets/db1/)\"",
];

#[test]
fn a_value_is_hidden_in_each_form() {
    for (form, value, kind) in FORMS {
        let text = format!("first\n{}\nlast\n", form.replace("{}", value));
        for (way, visible) in in_each_way(&text) {
            assert!(!visible.contains(value), "{way}: {visible}");
            assert!(visible.contains(&format!("⟦secret:{kind}:1⟧")), "{way}, {kind}: {visible}");
            assert_eq!(visible.lines().count(), 3, "{way}: {visible}");
        }
        let masker = secrets();
        assert_eq!(masker.restore(&masker.mask(&text)).unwrap(), text);
    }
}

#[test]
fn ordinary_lines_are_shown() {
    for line in ORDINARY {
        let text = format!("first\n{line}\nlast\n");
        for (way, visible) in in_each_way(&text) {
            assert_eq!(visible, text, "{way}");
        }
    }
    // One after another: none causes another to be hidden.
    let all = ORDINARY.join("\n");
    assert_eq!(secrets().mask(&all), all);
}
