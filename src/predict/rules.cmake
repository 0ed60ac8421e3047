list(APPEND predict_sources rules/apply.c rules/body.c rules/mine.c rules/neighbours.c
     rules/rules.c rules/tally.c)
