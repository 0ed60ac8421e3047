list(APPEND predict_sources evidence.c evidence_maker.c evidence_row.c)
