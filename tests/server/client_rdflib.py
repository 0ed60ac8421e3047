"""rdflib's SPARQLStore against a server: python3 client_rdflib.py URL"""
import sys

from rdflib import Graph, Literal, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLStore

E = "http://e/"


def check(good, what):
    if not good:
        sys.exit("rdflib: " + what)


for method in "GET", "POST", "POST_FORM":
    store = SPARQLStore(sys.argv[1] + "/sparql", method=method)
    graph = Graph(store)
    rows = {(str(r.x), r.n) for r in graph.query(
        "SELECT ?x ?n WHERE { ?x <http://e/knows> <http://e/cy> ; <http://e/name> ?n }")}
    check(rows == {(E + "ann", Literal("Ann", lang="en")), (E + "bob", Literal('B"o<b>'))},
          f"{method}: rows {rows}")
    notes = [str(r.n) for r in graph.query("SELECT ?n { ?x <http://e/note> ?n }")]
    check(notes == ["a\r\nb\ufffd\ufffd\r"], f"{method}: notes {notes}")
    ages = [r.a for r in graph.query("SELECT ?a { ?x <http://e/age> ?a } ORDER BY ?a")]
    check([a.toPython() for a in ages] == [7.5, 41] or [float(a) for a in ages] == [7.5, 41],
          f"{method}: ages {ages}")
    check(bool(graph.query("ASK { <http://e/ann> <http://e/knows> <http://e/bob> }")), "ASK yes")
    check(not graph.query("ASK { <http://e/bob> <http://e/knows> <http://e/ann> }").askAnswer,
          "ASK no")
    check(set(graph.objects(URIRef(E + "ann"), URIRef(E + "knows")))
          == {URIRef(E + "bob"), URIRef(E + "cy")}, "objects")
    check((URIRef(E + "bob"), URIRef(E + "name"), Literal('B"o<b>')) in graph, "contains")
