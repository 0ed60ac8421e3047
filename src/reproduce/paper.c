/* paper.c - see paper.h. Numbers as printed in the paper's tables: columns 2p 3p pi ip inp pin
 * 3-hub 4-hub 5-hub of classification; k = 1, 2, 3 and total of 3-hub, 4-hub, 5-hub of retrieval.
 */
#include "reproduce/paper.h"

#define QAC(...)  ((const double[9]){__VA_ARGS__})
#define QAR(...)  ((const double[12]){__VA_ARGS__})
#define HUBS(...) ((const double[3]){__VA_ARGS__})
#define NO        -1.0

/* Rows that several tables share. */
#define FB_ANYCQ_QAC   QAC(75.8, 71.3, 82.1, 78.8, 76.7, 75.7, 52.4, 49.9, 51.9)
#define NELL_ANYCQ_QAC QAC(76.2, 72.3, 79.0, 75.4, 76.7, 75.3, 57.2, 52.6, 58.2)
#define FB_SQL_QAR     QAR(65.8, 46.2, 17.8, 45.7, 59.9, 50.2, 33.7, 48.7, 60.6, 49.3, 42.5, 51.2)
#define NELL_SQL_QAR   QAR(63.5, 41.3, 24.0, 46.7, 60.6, 42.1, 32.9, 47.7, 52.7, 42.5, 27.6, 42.8)
#define FB_ANYCQ_QAR   QAR(67.8, 62.3, 50.2, 60.5, 60.4, 54.0, 48.2, 54.5, 63.0, 56.9, 43.1, 54.8)
#define NELL_ANYCQ_QAR QAR(66.7, 55.1, 39.1, 55.8, 65.1, 57.1, 46.5, 57.6, 58.7, 51.1, 39.6, 51.1)
#define NOTHING_QAR    QAR(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define ANYCQ(label_, links_, weights_)                                                            \
    .label = label_, .engine = "policy", .links = links_, .weights = weights_, .is_paper_s = true
#define OURS(label_, links_) .label = label_, .engine = "exact", .links = links_

static const acq_repro_table tables[] = {
    {.id = "qac",
     .title = "Classification: F1",
     .about = {"Yes or no for each candidate of a set; mean F1 over the sets.",
               "The sets can be gamed: whoever always says yes scores 66.7.",
               "See the table of matched F1."},
     .columns = ACQ_COLUMNS_QAC,
     .rows = {{.label = "SQL",
               .ours = "SQLite over observed facts",
               .engine = "sql",
               .is_paper_s = true,
               .published = {QAC(66.0, 61.7, 70.0, 67.0, 78.1, 74.8, 37.0, 32.2, 35.3),
                             QAC(60.9, 58.8, 63.3, 59.6, 76.7, 74.9, 33.9, 31.4, 27.0)}},
              {.label = "QTO",
               .ours = "QTO over ComplEx",
               .engine = "qto",
               .links = ACQ_REPRO_COMPLEX_QTO,
               .small_only = true,
               .is_paper_s = true,
               .published = {QAC(67.1, 64.4, 70.8, 67.7, 78.5, 75.9, NO, NO, NO),
                             QAC(63.9, 64.1, 68.2, 61.7, 74.5, 75.3, NO, NO, NO)}},
              {.label = "FIT",
               .ours = "FIT over ComplEx",
               .engine = "fit",
               .links = ACQ_REPRO_COMPLEX_FIT,
               .small_only = true,
               .is_paper_s = true,
               .published = {QAC(68.0, 65.1, 71.4, 67.8, 78.6, 76.7, NO, NO, NO),
                             QAC(63.9, 64.6, 68.4, 61.7, 73.6, 75.7, NO, NO, NO)}},
              {.label = "GNN-QE",
               .ours = "GNN-QE trained here",
               .engine = "gnnqe",
               .links = ACQ_REPRO_GNNQE,
               .small_only = true,
               .is_paper_s = true,
               .published = {QAC(77.1, 73.5, 80.1, 81.2, 79.0, 77.0, NO, NO, NO),
                             QAC(70.4, 69.7, 71.2, 72.1, 72.2, 74.9, NO, NO, NO)}},
              {.label = "UltraQuery",
               .ours = "UltraQuery's passes over ULTRA",
               .engine = "ultraquery",
               .links = ACQ_REPRO_ULTRAQUERY,
               .small_only = true,
               .is_paper_s = true,
               .published = {QAC(75.2, 68.9, 79.8, 76.8, 75.9, 78.6, NO, NO, NO),
                             QAC(66.3, 65.6, 73.2, 71.1, 73.2, 73.4, NO, NO, NO)}},
              {ANYCQ("AnyCQ", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_SHIPPED),
               .ours = "policy search over NBFNet", .published = {FB_ANYCQ_QAC, NELL_ANYCQ_QAC}},
              {OURS("exact, calibrated", ACQ_REPRO_FITTED),
               .ours = "exact search over links with probabilities"}}},
    {.id = "qac-matched",
     .title = "Classification: what cannot be gamed",
     .about = {"Matched F1 keeps only the correct candidates that the observed graph has seen at "
               "their place, as it has all wrong ones.",
               "Wrong: share of the wrong candidates that got a yes.",
               "The paper has no such rows."},
     .columns = ACQ_COLUMNS_QAC,
     .rows = {{.label = "SQL: matched F1", .engine = "sql", .measure = ACQ_MEASURE_MATCHED},
              {.label = "FIT: matched F1",
               .engine = "fit",
               .links = ACQ_REPRO_COMPLEX_FIT,
               .small_only = true,
               .measure = ACQ_MEASURE_MATCHED},
              {.label = "UltraQuery: matched F1",
               .engine = "ultraquery",
               .links = ACQ_REPRO_ULTRAQUERY,
               .small_only = true,
               .measure = ACQ_MEASURE_MATCHED},
              {.label = "AnyCQ: matched F1",
               .engine = "policy",
               .links = ACQ_REPRO_NBFNET,
               .weights = ACQ_WEIGHTS_SHIPPED,
               .measure = ACQ_MEASURE_MATCHED},
              {OURS("exact, calibrated: matched F1", ACQ_REPRO_FITTED),
               .measure = ACQ_MEASURE_MATCHED},
              {.label = "UltraQuery: wrong",
               .engine = "ultraquery",
               .links = ACQ_REPRO_ULTRAQUERY,
               .small_only = true,
               .measure = ACQ_MEASURE_WRONG},
              {.label = "AnyCQ: wrong",
               .engine = "policy",
               .links = ACQ_REPRO_NBFNET,
               .weights = ACQ_WEIGHTS_SHIPPED,
               .measure = ACQ_MEASURE_WRONG},
              {OURS("exact, calibrated: wrong", ACQ_REPRO_FITTED), .measure = ACQ_MEASURE_WRONG},
              {.label = "always yes: F1",
               .ours = "",
               .engine = "sql",
               .measure = ACQ_MEASURE_ALWAYS_YES}}},
    {.id = "qar",
     .title = "Retrieval: F1",
     .about = {"One answer, or none, for queries with k free variables."},
     .columns = ACQ_COLUMNS_QAR,
     .rows = {{.label = "SQL",
               .ours = "SQLite over observed facts",
               .engine = "sql",
               .is_paper_s = true,
               .published = {FB_SQL_QAR, NELL_SQL_QAR}},
              {ANYCQ("AnyCQ", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_SHIPPED),
               .ours = "policy search over NBFNet", .published = {FB_ANYCQ_QAR, NELL_ANYCQ_QAR}},
              {OURS("exact, calibrated", ACQ_REPRO_FITTED),
               .ours = "exact search over links with probabilities"}}},
    {.id = "transfer",
     .title = "Retrieval: weights of the policy on another graph",
     .about = {"F1 of all queries of a hub part.",
               "The weights were trained on the graph that the row names."},
     .columns = ACQ_COLUMNS_HUBS,
     .rows = {{ANYCQ("NBFNet, trained on", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_EACH),
               .transfer = {{HUBS(60.5, 54.5, 54.8), HUBS(58.8, 53.5, 52.6)},
                            {HUBS(55.9, 58.7, 49.4), HUBS(55.8, 57.6, 51.1)}}},
              {ANYCQ("perfect, trained on", ACQ_REPRO_PERFECT, ACQ_WEIGHTS_EACH),
               .transfer = {{HUBS(94.4, 93.4, 93.0), HUBS(92.2, 90.4, 90.2)},
                            {HUBS(95.5, 96.4, 96.2), HUBS(94.5, 95.7, 94.9)}}}}},
    {.id = "perfect",
     .title = "Classification with a perfect predictor: F1",
     .about = {"The links are those of the complete graph, so only the search can fail."},
     .columns = ACQ_COLUMNS_QAC,
     .rows = {{ANYCQ("AnyCQ", ACQ_REPRO_PERFECT, ACQ_WEIGHTS_SHIPPED),
               .published = {QAC(100, 99.9, 100, 100, 100, 100, 92.4, 91.4, 93.8),
                             QAC(100, 100, 100, 100, 100, 100, 93.0, 89.4, 91.3)}},
              {OURS("exact", ACQ_REPRO_PERFECT), .ours = "exact search"}}},
    {.id = "qac-predictors",
     .title = "Classification: AnyCQ over three predictors, F1",
     .columns = ACQ_COLUMNS_QAC,
     .rows = {{ANYCQ("ComplEx", ACQ_REPRO_COMPLEX, ACQ_WEIGHTS_SHIPPED),
               .published = {QAC(66.9, 63.1, 70.7, 67.6, 78.4, 75.2, 39.5, 32.3, 36.1),
                             QAC(63.8, 64.0, 68.2, 61.7, 74.8, 75.0, 39.1, 40.0, 34.9)}},
              {ANYCQ("NBFNet", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_SHIPPED),
               .published = {FB_ANYCQ_QAC, NELL_ANYCQ_QAC}},
              {ANYCQ("ULTRA", ACQ_REPRO_ULTRA, ACQ_WEIGHTS_SHIPPED),
               .published = {QAC(70.4, 56.2, 77.3, 70.6, 72.4, 73.0, 32.6, 26.9, 29.1),
                             QAC(76.0, 23.0, 81.2, 76.3, 70.8, 74.0, 33.2, 30.8, 25.5)}}}},
    {.id = "qar-predictors",
     .title = "Retrieval: AnyCQ over three predictors, F1",
     .columns = ACQ_COLUMNS_QAR,
     .rows = {{.label = "SQL",
               .engine = "sql",
               .is_paper_s = true,
               .published = {FB_SQL_QAR, NELL_SQL_QAR}},
              {ANYCQ("ComplEx", ACQ_REPRO_COMPLEX, ACQ_WEIGHTS_SHIPPED),
               .published =
                   {QAR(67.3, 56.3, 43.4, 56.3, 57.7, 54.4, 45.6, 52.7, 62.8, 54.3, 44.1, 54.1),
                    QAR(62.8, 50.0, 34.6, 51.4, 61.7, 52.1, 40.7, 53.0, 55.1, 50.0, 36.5, 48.4)}},
              {ANYCQ("NBFNet", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_SHIPPED),
               .published = {FB_ANYCQ_QAR, NELL_ANYCQ_QAR}},
              {ANYCQ("ULTRA", ACQ_REPRO_ULTRA, ACQ_WEIGHTS_SHIPPED),
               .published =
                   {QAR(65.3, 57.1, 44.1, 56.0, 57.1, 52.4, 42.2, 50.8, 59.4, 54.3, 41.3, 52.0),
                    QAR(57.4, 44.6, 31.5, 46.5, 56.4, 43.8, 35.2, 46.7, 49.1, 40.4, 31.5, 41.5)}}}},
    {.id = "easy-hard",
     .title = "Retrieval: easy and hard questions apart, F1",
     .about =
         {"Easy: the file says that the observed graph has an answer; not all of them do "
          "(docs/benchmark.md).",
          "The published figures are 2 R / (1 + R) of the recall R of the class; so are ours."},
     .columns = ACQ_COLUMNS_QAR,
     .rows = {{.label = "SQL, easy",
               .engine = "sql",
               .measure = ACQ_MEASURE_F1_EASY,
               .is_paper_s = true,
               .published =
                   {QAR(94.0, 75.9, 41.8, 77.1, 93.2, 83.5, 68.9, 83.7, 92.1, 77.7, 76.1, 82.7),
                    QAR(97.2, 81.7, 71.3, 88.6, 94.8, 81.7, 77.6, 87.6, 94.1, 88.0, 78.0, 89.0)}},
              {ANYCQ("AnyCQ, easy", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_SHIPPED),
               .measure = ACQ_MEASURE_F1_EASY,
               .published =
                   {QAR(90.8, 91.4, 83.4, 89.2, 88.3, 83.1, 83.8, 85.2, 85.0, 80.2, 68.7, 78.8),
                    QAR(96.3, 94.4, 92.7, 95.1, 94.5, 94.0, 88.6, 93.1, 94.4, 91.6, 89.5, 92.5)}},
              {OURS("exact, calibrated, easy", ACQ_REPRO_FITTED), .measure = ACQ_MEASURE_F1_EASY},
              {.label = "SQL, hard",
               .engine = "sql",
               .measure = ACQ_MEASURE_F1_HARD,
               .is_paper_s = true,
               .published = {NOTHING_QAR, NOTHING_QAR}},
              {ANYCQ("AnyCQ, hard", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_SHIPPED),
               .measure = ACQ_MEASURE_F1_HARD,
               .published =
                   {QAR(20.9, 14.5, 20.0, 18.5, 16.2, 13.1, 12.2, 13.8, 28.8, 19.5, 14.8, 20.9),
                    QAR(13.1, 13.1, 7.7, 11.1, 17.7, 16.8, 15.2, 16.5, 16.8, 15.0, 11.0, 14.3)}},
              {OURS("exact, calibrated, hard", ACQ_REPRO_FITTED), .measure = ACQ_MEASURE_F1_HARD}}},
    {.id = "pe",
     .title = "Retrieval: with PE labels and without, F1",
     .about = {"AnyCQ over ComplEx; without: trained and run with PE labels of 0."},
     .columns = ACQ_COLUMNS_HUBS,
     .rows = {{ANYCQ("with PE", ACQ_REPRO_COMPLEX, ACQ_WEIGHTS_SHIPPED),
               .published = {HUBS(56.3, 52.7, 54.1), HUBS(51.4, 53.0, 48.4)}},
              {ANYCQ("without PE", ACQ_REPRO_COMPLEX, ACQ_WEIGHTS_NO_PE),
               .published = {HUBS(0, 0, 0), HUBS(0, 0, 0)}}}},
    {.id = "random",
     .title = "Classification: trained against random, F1",
     .about = {"AnyCQ over NBFNet.", "Random draws every value anew in each step."},
     .columns = ACQ_COLUMNS_QAC,
     .rows = {{.label = "random",
               .engine = "random",
               .links = ACQ_REPRO_NBFNET,
               .is_paper_s = true,
               .published = {QAC(3.3, 0, 4.9, 2.9, 4.4, 3.5, 0, 0, 0),
                             QAC(2.8, 0, 3.3, 2.4, 3.1, 3.1, 0, 0, 0)}},
              {.label = "untrained",
               .ours = "the network with its first weights",
               .engine = "policy",
               .links = ACQ_REPRO_NBFNET,
               .weights = ACQ_WEIGHTS_UNTRAINED},
              {ANYCQ("AnyCQ", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_SHIPPED),
               .published = {FB_ANYCQ_QAC, NELL_ANYCQ_QAC}}}},
    {.id = "sql-time",
     .title = "Retrieval: recall of easy questions under time limits",
     .about = {"Seconds for each question.",
               "Easy is what the file calls so; exact search over observed facts finds all that "
               "there is."},
     .columns = ACQ_COLUMNS_QAR,
     .rows = {{ANYCQ("AnyCQ, 60 s", ACQ_REPRO_NBFNET, ACQ_WEIGHTS_SHIPPED),
               .measure = ACQ_MEASURE_RECALL_EASY, .seconds = 60,
               .published =
                   {QAR(83.3, 84.2, 71.6, 80.5, 79.1, 71.1, 72.1, 74.3, 74.0, 67.0, 52.3, 65.0),
                    QAR(93.0, 89.4, 86.5, 90.7, 89.6, 88.8, 79.6, 87.1, 89.4, 84.5, 81.3, 86.1)}},
              {.label = "SQL, 30 s",
               .engine = "sql",
               .measure = ACQ_MEASURE_RECALL_EASY,
               .seconds = 30,
               .is_paper_s = true,
               .published =
                   {QAR(82.8, 51.5, 20.3, 55.6, 71.9, 49.7, 34.4, 53.6, 74.0, 51.0, 43.8, 56.8),
                    QAR(88.5, 57.5, 33.8, 69.0, 82.4, 57.8, 55.9, 69.2, 80.1, 63.1, 46.7, 67.5)}},
              {.label = "SQL, 60 s",
               .engine = "sql",
               .measure = ACQ_MEASURE_RECALL_EASY,
               .seconds = 60,
               .is_paper_s = true,
               .published =
                   {QAR(88.7, 61.2, 26.4, 62.8, 87.2, 71.7, 52.6, 71.9, 85.3, 63.6, 61.4, 70.5),
                    QAR(94.5, 69.0, 55.4, 79.6, 90.1, 69.0, 63.4, 77.9, 88.8, 78.6, 64.0, 80.2)}},
              {.label = "SQL, 120 s",
               .engine = "sql",
               .measure = ACQ_MEASURE_RECALL_EASY,
               .seconds = 120,
               .is_paper_s = true,
               .published =
                   {QAR(93.2, 69.4, 35.8, 69.9, 90.8, 76.5, 55.2, 75.8, 88.7, 67.0, 67.6, 74.7),
                    QAR(95.5, 73.5, 58.1, 81.9, 93.8, 71.5, 68.8, 81.6, 91.3, 82.5, 65.4, 82.9)}},
              {.label = "exact, observed facts, 60 s",
               .engine = "exact",
               .measure = ACQ_MEASURE_RECALL_EASY,
               .seconds = 60}}},
    {.id = "qac-files",
     .title = "Classification: what is in the files",
     .about = {"Shares are of all candidates; easy ones are those that the observed graph has."},
     .columns = ACQ_COLUMNS_QAC,
     .rows = {{.label = "queries",
               .ours = "",
               .engine = "exact",
               .measure = ACQ_MEASURE_QUERIES,
               .is_paper_s = true,
               .published = {QAC(500, 500, 500, 500, 500, 500, 300, 300, 300),
                             QAC(500, 500, 500, 500, 500, 500, 300, 300, 300)}},
              {.label = "candidates",
               .ours = "",
               .engine = "exact",
               .measure = ACQ_MEASURE_CANDIDATES,
               .is_paper_s = true,
               .published = {QAC(9818, 9828, 9632, 9358, 9808, 9898, 2036, 1988, 2028),
                             QAC(9708, 9702, 9478, 9694, 9698, 9888, 2174, 2186, 1922)}},
              {.label = "easy, %",
               .ours = "",
               .engine = "exact",
               .measure = ACQ_MEASURE_EASY_SHARE,
               .is_paper_s = true,
               .published = {QAC(26.5, 24.0, 27.5, 28.7, 35.8, 32.9, 18.7, 16.6, 17.0),
                             QAC(23.6, 22.6, 25.2, 23.6, 35.8, 32.8, 15.9, 14.4, 13.7)}},
              {.label = "hard, %",
               .ours = "",
               .engine = "exact",
               .measure = ACQ_MEASURE_HARD_SHARE,
               .is_paper_s = true,
               .published = {QAC(23.5, 26.0, 22.5, 21.3, 14.2, 17.1, 31.3, 33.4, 33.0),
                             QAC(26.4, 27.4, 24.8, 26.4, 14.2, 17.2, 34.1, 35.6, 36.3)}},
              {.label = "wrong, %",
               .ours = "",
               .engine = "exact",
               .measure = ACQ_MEASURE_WRONG_SHARE,
               .is_paper_s = true,
               .published = {QAC(50, 50, 50, 50, 50, 50, 50, 50, 50),
                             QAC(50, 50, 50, 50, 50, 50, 50, 50, 50)}}}},
    {.id = "qar-files",
     .title = "Retrieval: what is in the files",
     .about =
         {"Trivial: the observed graph has an answer.",
          "Ours also count queries without an answer, which the validation files alternate with "
          "the others."},
     .columns = ACQ_COLUMNS_QAR,
     .rows = {{.label = "queries",
               .ours = "",
               .engine = "exact",
               .measure = ACQ_MEASURE_QUERIES,
               .is_paper_s = true,
               .published = {QAR(400, 400, 400, 1200, 400, 400, 400, 1200, 400, 400, 400, 1200),
                             QAR(400, 300, 300, 1000, 400, 300, 300, 1000, 400, 300, 300, 1000)}},
              {.label = "trivial",
               .ours = "",
               .engine = "exact",
               .measure = ACQ_MEASURE_TRIVIAL,
               .is_paper_s = true,
               .published = {QAR(NO, NO, NO, 565, NO, NO, NO, 537, NO, NO, NO, 586),
                             QAR(NO, NO, NO, 387, NO, NO, NO, 416, NO, NO, NO, 417)}}}},
};

const acq_repro_table *acq_repro_get_table(size_t i)
{
    return i < sizeof tables / sizeof *tables ? &tables[i] : NULL;
}

size_t acq_repro_get_n_columns(acq_repro_columns columns)
{
    return columns == ACQ_COLUMNS_QAC ? 9 : columns == ACQ_COLUMNS_QAR ? 12 : 3;
}

const char *acq_repro_get_column(acq_repro_columns columns, size_t i)
{
    static const char *const qar[12] = {"3-hub, k=1", "3-hub, k=2", "3-hub, k=3", "3-hub, total",
                                        "4-hub, k=1", "4-hub, k=2", "4-hub, k=3", "4-hub, total",
                                        "5-hub, k=1", "5-hub, k=2", "5-hub, k=3", "5-hub, total"};
    if (columns == ACQ_COLUMNS_QAR)
        return qar[i];
    size_t part = columns == ACQ_COLUMNS_QAC ? i : ACQ_PART_3hub + i;
    return acq_repro_part_get_name((acq_repro_part)part);
}

const char *acq_repro_get_paper(int paper)
{
    return paper == 0 ? "FB15k-237" : "NELL";
}

double acq_repro_get_binarize(acq_repro_links links, int paper, bool is_hub)
{
    if (links == ACQ_REPRO_NBFNET)
        return is_hub ? .6 : paper == 1 ? .4 : .5;
    if (links == ACQ_REPRO_ULTRA)
        return is_hub ? .9 : .4;
    return 0;
}
