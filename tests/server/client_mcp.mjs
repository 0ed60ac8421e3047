// The official clients: 2.x in both of its modes, 1.x with its handshake, over HTTP and over standard
// input. node client_mcp.mjs NPM URL ANYCQ GRAPH
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [npm, url, anycq, graph] = process.argv.slice(2);
const require = createRequire(npm + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

async function use(client, transport) {
    await client.connect(transport);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((t) => t.name),
        ["schema", "find_entity", "ask", "check", "explain", "suggest"]);
    const call = async (name, args) => client.callTool({ name, arguments: args });
    const schema = (await call("schema", {})).structuredContent;
    assert.equal(schema.relations.find((r) => r.key === "http://e/knows").facts, 3);
    const found = (await call("find_entity", { prefix: "http://e/a" })).structuredContent;
    assert.deepEqual(found.names.map((n) => n.key), ["http://e/ann"]);
    const asked = (await call("ask", { query: "knows(<http://e/ann>, x)", limit: 10 })).structuredContent;
    assert.deepEqual(asked.answers.map((a) => a.values.x).sort(), ["http://e/bob", "http://e/cy"]);
    assert.equal(asked.answers[0].kind, "observed");
    const checked = (await call("check", { query: "knows(<http://e/ann>, x)",
        values: ["http://e/bob"] })).structuredContent;
    assert.equal(checked.verdict, "yes");
    const explained = (await call("explain", { query: "knows(<http://e/ann>, x)",
        values: ["http://e/cy"] })).structuredContent;
    assert.equal(explained.answers[0].atoms[0].kind, "observed");
    const wrong = await call("ask", { query: "nows(x, y)" });
    assert.equal(wrong.isError, true);
    assert.match(wrong.content[0].text, /knows/);
    const unknown = await call("ask", { query: "knows(x, y)", top: 5 });
    assert.equal(unknown.isError, true);
    await client.close();
}

const old = await load("@modelcontextprotocol/sdk/client/index.js");
const oldHttp = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const oldStdio = await load("@modelcontextprotocol/sdk/client/stdio.js");
const now = await load("@modelcontextprotocol/client");
const nowStdio = await load("@modelcontextprotocol/client/stdio");
const info = { name: "test", version: "1" };
const command = { command: anycq, args: ["mcp", graph, "--predictor", "observed"], stderr: "ignore" };

await use(new old.Client(info), new oldHttp.StreamableHTTPClientTransport(new URL(url)));
await use(new old.Client(info), new oldStdio.StdioClientTransport(command));
for (const options of [{}, { versionNegotiation: { mode: { pin: "2026-07-28" } } }]) {
    await use(new now.Client(info, options), new now.StreamableHTTPClientTransport(new URL(url)));
    await use(new now.Client(info, options), new nowStdio.StdioClientTransport(command));
}
