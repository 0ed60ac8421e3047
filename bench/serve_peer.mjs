// serve_peer.mjs - Oxigraph's npm package behind node's HTTP server: node serve_peer.mjs NPM FILE.nt
// Prints its port. GET /sparql?query=... gives SPARQL's JSON.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [npm, file] = process.argv.slice(2);
const { Store } = createRequire(npm + "/")("oxigraph");
const store = new Store();
store.load(readFileSync(file, "utf8"), { format: "application/n-triples" });
const server = createServer((request, response) => {
    const query = new URL(request.url, "http://localhost").searchParams.get("query");
    try {
        const body = store.query(query, { results_format: "json" });
        response.writeHead(200, { "Content-Type": "application/sparql-results+json" });
        response.end(body);
    } catch (error) {
        response.writeHead(400);
        response.end(String(error));
    }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
