list(APPEND predict_sources evidence.c evidence_row.c)
