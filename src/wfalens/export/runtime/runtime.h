#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Texts are UTF-8. A byte that is not reads as U+FFFD. Any number of threads may call the functions. */

#define WFA_UNDECIDED (-1)    /* all mass was lost on the way: no class has any */
#define WFA_UNKNOWN_WORD (-2) /* the alphabet is closed, and the text has another word */
#define WFA_TOO_LONG (-3)     /* more words than WFA_MOST_EXPLAINED */
#define WFA_ONE 4194304       /* probabilities are whole, in parts of this */
enum wfa_absence { WFA_DELETE, WFA_UNKNOWN }; /* an absent word is not there, or reads as an unknown one */

/* A word as it is read: where it stands in the text (in bytes), its entry in the tables, and whether it is listed. */
typedef struct {
  size_t first, end;
  uint16_t entry;
  uint8_t known;
} wfa_token;

#ifdef __GNUC__
#define WFA_ALIGNED __attribute__((aligned(64))) /* of tables: vectors that lie across two lines of the cache load slowly */
#else
#define WFA_ALIGNED
#endif

extern const char *const wfa_classes[WFA_CLASSES];

/* The class of a text, and the probabilities of all classes; or WFA_UNDECIDED or WFA_UNKNOWN_WORD. */
int wfa_predict(const char *text, size_t bytes, uint32_t probabilities[WFA_CLASSES]);

/* The words that are read of a text. Returns how many there are and writes as many as there is room for. */
size_t wfa_tokens(const char *text, size_t bytes, wfa_token *tokens, size_t room);

/* The same as wfa_predict for words that were split before. */
int wfa_predict_tokens(const wfa_token *tokens, size_t count, uint32_t probabilities[WFA_CLASSES]);

/* Many texts side by side, which is quicker than one by one: classes[text] is what wfa_predict returns, and
   probabilities[text * WFA_CLASSES + class] what it writes. */
void wfa_predict_texts(const char *const *texts, const size_t *bytes, size_t count, int *classes, uint32_t *probabilities);

/* The same for words that were split before: their entries, those of a text from starts[text] to starts[text + 1]. All are
   read, also those that are not listed. */
void wfa_predict_entries(const uint16_t *entries, const size_t *starts, size_t count, int *classes, uint32_t *probabilities);

/* Exact Shapley values of all words: values[word * WFA_CLASSES + class], in parts of WFA_VALUE_ONE, in probabilities or, of
   linear automata, in log-odds. `work` has room for WFA_WORK(count) numbers. Returns 0, or one of the codes above. */
int wfa_explain(const wfa_token *tokens, size_t count, enum wfa_absence absence, int32_t *work, int64_t *values);

#if WFA_STEP_NUMBERS
/* Linear automata: makes the steps of the commonest words beforehand, as many as there is room for, WFA_STEP_NUMBERS each.
   Predictions and values are the same, and quicker. Call it once, before any other thread; the memory must stay. */
size_t wfa_prepare(int32_t *steps, size_t room);
#endif

#ifdef __cplusplus
}
#endif
