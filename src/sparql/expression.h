/* expression.h - expressions of SPARQL, evaluated for one solution. */
#ifndef ACQ_SPARQL_EXPRESSION_H
#define ACQ_SPARQL_EXPRESSION_H

#include "query/sparql/syntax.h"
#include "sparql/pattern.h"
#include "sparql/value.h"

/* Where an expression finds values, and whether a pattern has a solution. */
typedef struct acq_expression_scope {
    acq_value_room room;
    /* The value of a variable or constant; ERROR: unbound. */
    acq_value (*get_term)(void *context, const acq_sparql_term *term);
    bool (*exists)(void *context, const acq_sparql_expression *e);
    void *context;
    acq_pattern *pattern; /* the last one used, owned; NULL: none */
} acq_expression_scope;

/* scope->room.failed tells whether the result may be used. */
acq_value acq_expression_evaluate(acq_expression_scope *scope, const acq_sparql_expression *e);
void acq_expression_scope_deinit(acq_expression_scope *scope);

#endif
