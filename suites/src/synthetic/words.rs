//! The word lists that property names and values are composed from, one row per domain.

/// Things that a property can be named after.
pub(super) const NOUNS: &[&str] = &[
    // identity and people
    "name", "id", "title", "label", "code", "key", "alias", "user", "owner", "author", "member", "person", "contact",
    "customer", "client", "guest", "patient", "student", "teacher", "employee", "manager", "driver", "pilot",
    "player", "reviewer", "editor", "tenant", "visitor", "donor", "parent", "child", "spouse", "nickname", "surname",
    "gender",
    // places
    "address", "street", "city", "country", "region", "state", "district", "village", "zone", "site", "building",
    "floor", "room", "desk", "gate", "harbor", "airport", "station", "bridge", "island", "river", "lake", "mountain",
    "latitude", "longitude", "altitude", "postcode", "border", "route", "path", "location", "origin", "destination",
    // time
    "date", "time", "year", "month", "week", "day", "hour", "minute", "second", "deadline", "duration", "interval",
    "period", "season", "schedule", "calendar", "birthday", "anniversary", "delay", "timeout", "timestamp",
    "timezone",
    // commerce
    "price", "cost", "amount", "total", "tax", "fee", "discount", "coupon", "currency", "invoice", "receipt", "order",
    "item", "product", "catalog", "brand", "vendor", "supplier", "stock", "warehouse", "shipment", "parcel", "cart",
    "payment", "refund", "budget", "salary", "wage", "loan", "account", "balance", "transaction", "contract",
    "market", "profit", "share", "bond", "asset", "quantity", "unit", "barcode", "sku", "warranty",
    // computing
    "host", "port", "server", "network", "domain", "url", "endpoint", "protocol", "packet", "socket", "session",
    "token", "password", "secret", "role", "group", "policy", "permission", "file", "folder", "archive", "image",
    "container", "cluster", "node", "process", "thread", "memory", "disk", "cache", "queue", "buffer", "kernel",
    "module", "package", "library", "version", "release", "branch", "commit", "script", "command", "option", "flag",
    "plugin", "theme", "widget", "button", "menu", "icon", "layout", "panel", "cursor", "window", "screen", "pixel",
    "query", "table", "column", "row", "index", "field", "record", "schema", "event", "message", "topic", "channel",
    "log", "metric", "trace", "alert", "job", "task", "step", "trigger", "webhook", "proxy", "firewall", "backup",
    // science and measures
    "weight", "height", "width", "length", "depth", "radius", "diameter", "area", "volume", "mass", "density",
    "speed", "velocity", "force", "pressure", "temperature", "humidity", "voltage", "current", "power", "energy",
    "frequency", "angle", "distance", "ratio", "rate", "score", "rank", "level", "grade", "percentage", "count",
    "size", "limit", "threshold", "offset", "range", "sample", "sensor", "reading", "signal", "noise", "error",
    "vector", "matrix", "atom", "molecule", "protein", "gene", "cell", "tissue", "species", "genus", "planet", "star",
    "orbit", "galaxy", "crystal", "mineral", "metal", "fluid", "gas", "reactor", "laser", "lens", "mirror",
    // health and food
    "dose", "drug", "allergy", "symptom", "disease", "vaccine", "clinic", "nurse", "doctor", "pulse", "recipe",
    "ingredient", "meal", "menuitem", "calorie", "sugar", "salt", "fruit", "vegetable", "bread", "cheese", "spice",
    "flavor", "portion", "kitchen", "oven", "bottle", "harvest", "crop", "seed", "soil", "farm", "animal", "breed",
    // culture and media
    "book", "chapter", "page", "article", "journal", "paper", "letter", "poem", "language", "word", "phrase", "song",
    "album", "artist", "band", "concert", "genre", "track", "tempo", "movie", "actor", "scene", "episode", "series",
    "game", "team", "league", "match", "goal", "coach", "stadium", "race", "medal", "ticket", "seat", "theater",
    "museum", "painting", "camera", "photo", "video", "audio", "caption", "comment", "review", "rating", "tag",
    "category", "keyword", "summary", "note", "description", "content", "body", "header", "footer", "link", "font",
    // transport and industry
    "vehicle", "engine", "wheel", "fuel", "tank", "brake", "mileage", "flight", "train", "truck", "ship", "cargo",
    "crew", "captain", "license", "permit", "machine", "motor", "pump", "valve", "pipe", "cable", "battery", "tool",
    "part", "model", "serial", "color", "shape", "material", "texture", "pattern", "surface", "layer", "frame",
    "factory", "shift", "batch", "defect", "quality", "inspection", "repair", "project", "phase", "plan", "target",
    // administration
    "status", "type", "kind", "mode", "reason", "result", "outcome", "priority", "severity", "visibility", "scope",
    "department", "office", "company", "agency", "committee", "council", "court", "judge", "law", "rule", "vote",
    "election", "passport", "visa", "form", "document", "signature", "stamp", "certificate", "degree", "course",
    "lesson", "exam", "school", "campus", "faculty", "email", "phone", "fax", "website", "locale", "feature",
];

/// Words that stand before a noun in a composed name.
pub(super) const MODIFIERS: &[&str] = &[
    "first", "last", "next", "previous", "primary", "secondary", "main", "default", "current", "new", "old", "final",
    "initial", "total", "average", "max", "min", "base", "net", "gross", "local", "global", "remote", "public",
    "private", "internal", "external", "shared", "active", "inactive", "open", "closed", "pending", "full", "partial",
    "short", "long", "high", "low", "upper", "lower", "left", "right", "top", "bottom", "front", "back", "inner",
    "outer", "raw", "clean", "fixed", "custom", "manual", "auto", "smart", "digital", "virtual", "legal", "medical",
    "annual", "monthly", "weekly", "daily", "hourly", "early", "late", "fast", "slow", "heavy", "light", "dark",
    "bright", "hot", "cold", "warm", "dry", "wet", "soft", "hard", "deep", "flat", "round", "sharp", "smooth",
    "rough", "quiet", "loud", "rare", "common", "simple", "complex", "single", "double", "triple", "multi", "mixed",
    "native", "foreign", "rural", "urban", "royal", "national", "regional", "central", "northern", "southern",
    "eastern", "western", "red", "green", "blue", "black", "white", "golden", "silver", "wooden", "solar", "lunar",
    "marine", "aerial", "ground", "home", "work", "billing", "shipping", "delivery", "business", "family", "system",
    "source", "target", "parent", "child", "related", "linked", "nested", "hidden", "visible", "valid", "expected",
    "actual", "planned", "estimated", "measured", "reported", "verified", "approved", "rejected", "archived",
    "updated", "created", "deleted", "locked", "signed", "encrypted", "compressed", "scheduled", "preferred",
];

/// Verbs, for names such as `enable_backup` and boolean names such as `is_locked`.
pub(super) const VERBS: &[&str] = &[
    "enable", "allow", "use", "show", "hide", "send", "receive", "create", "update", "delete", "start", "stop",
    "open", "close", "read", "write", "load", "save", "copy", "move", "merge", "split", "sort", "filter", "search",
    "find", "check", "verify", "approve", "cancel", "retry", "skip", "keep", "drop", "lock", "sync", "export",
    "import", "print", "scan", "track", "notify", "invite", "join", "leave", "publish", "archive", "restore",
    "install", "build", "deploy", "test", "measure", "compare", "convert", "encode", "parse", "render", "reset",
    "upload",
];

/// States, for boolean names and enumerations.
pub(super) const STATES: &[&str] = &[
    "active", "inactive", "pending", "approved", "rejected", "open", "closed", "draft", "published", "archived",
    "enabled", "disabled", "public", "private", "internal", "low", "medium", "high", "critical", "none", "basic",
    "standard", "premium", "small", "large", "huge", "tiny", "left", "right", "center", "top", "bottom", "north",
    "south", "east", "west", "red", "green", "blue", "yellow", "black", "white", "orange", "purple", "manual", "auto",
    "daily", "weekly", "monthly", "yearly", "once", "always", "never", "info", "warning", "error", "debug", "fatal",
    "queued", "running", "done", "failed", "paused", "stopped", "ready", "blocked", "locked", "cash", "card", "bank",
    "air", "sea", "road", "rail", "metric", "imperial", "linear", "radial", "solid", "dashed", "dotted", "bold",
    "italic", "plain", "new", "used", "broken", "fresh", "frozen", "hot", "cold", "warm", "dry", "male", "female",
    "unknown", "other", "first", "second", "third", "json", "xml", "csv", "yaml", "http", "https", "ftp", "tcp",
    "udp", "get", "post", "put", "patch", "head", "text", "binary", "image", "video", "audio", "en", "fr", "de", "es",
    "it", "usd", "eur", "gbp", "jpy", "read", "write", "execute", "owner", "guest", "admin", "member", "full", "half",
    "empty", "square", "circle", "triangle", "wood", "metal", "glass", "paper", "stone", "plastic", "cotton", "silk",
];

/// Short texts that a plain string may hold.
pub(super) const TEXTS: &[&str] = &[
    "sample", "example", "alpha", "beta", "gamma", "delta", "omega", "north wing", "blue ridge", "green valley",
    "silver lake", "main hall", "first draft", "quick note", "open question", "short summary", "daily report",
    "red maple", "stone bridge", "river bank", "cedar", "willow", "amber", "coral", "falcon", "otter", "harbor view",
    "spring sale", "winter plan", "summer trip", "night shift", "morning run", "second edition", "new version",
    "all good", "to be checked", "ready to ship", "on time", "in progress", "under review", "sent by mail",
    "paid in full", "left at the door", "see the notes", "call back later", "no comment", "as agreed", "very useful",
];

/// Single words of a known length, for strings with bounds on their length.
pub(super) const SIZED: &[&str] = &[
    "a", "b", "x", "go", "ok", "up", "on", "red", "sun", "oak", "map", "blue", "gold", "lake", "wind", "fern",
    "amber", "coral", "delta", "river", "stone", "cedar", "falcon", "harbor", "meadow", "silver", "willow", "lantern",
    "orchard", "horizon", "mountain", "notebook", "sunlight", "adventure", "butterfly", "landscape", "blackberry",
    "lighthouse", "watercolor", "grasshopper", "observatory", "conversation", "thunderstorm", "transportation",
    "acknowledgement", "characteristics", "quick silver fox", "north harbor lantern", "green valley observatory",
    "a long walk along the river", "a short note about the silver lake",
];

/// First names.
pub(super) const GIVEN: &[&str] = &[
    "Ada", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Hugo", "Iris", "Jonas", "Karin", "Leo", "Maria",
    "Nina", "Oscar", "Paula", "Quentin", "Rosa", "Samuel", "Tara", "Umar", "Vera", "Walter", "Xenia", "Yusuf", "Zoe",
];

/// Family names.
pub(super) const FAMILY: &[&str] = &[
    "Bell", "Costa", "Dahl", "Evans", "Fischer", "Garcia", "Hill", "Ito", "Jensen", "Kumar", "Lopez", "Meyer",
    "Novak", "Okafor", "Park", "Quinn", "Rossi", "Silva", "Tanaka", "Weber", "Young", "Zhang",
];

/// Cities.
pub(super) const CITIES: &[&str] = &[
    "Oslo", "Lima", "Paris", "Cairo", "Tokyo", "Berlin", "Madrid", "Nairobi", "Toronto", "Sydney", "Boston", "Lisbon",
    "Vienna", "Dublin", "Seoul", "Mumbai", "Quito", "Prague", "Zürich", "Kraków",
];

/// Countries.
pub(super) const COUNTRIES: &[&str] = &[
    "Norway", "Peru", "France", "Egypt", "Japan", "Germany", "Spain", "Kenya", "Canada", "Australia", "Portugal",
    "Austria", "Ireland", "India", "Brazil",
];

/// UUIDs (RFC 9562).
pub(super) const UUIDS: &[&str] = &[
    "123e4567-e89b-12d3-a456-426614174000", "550e8400-e29b-41d4-a716-446655440000",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002", "11111111-2222-4333-8444-555555555555",
];
