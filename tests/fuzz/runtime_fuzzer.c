/* Any bytes are a text: the exported program reads it without harm, and both ways of reading agree. */
#include <stdlib.h>
#include <string.h>
#include "model.h"

#define MOST_EXPLAINED_WORDS 24

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  uint32_t one[WFA_CLASSES] = {0}, two[WFA_CLASSES] = {0};
  char *text = malloc(size ? size : 1); /* no byte more than the text has */
  size_t count, t;
  wfa_token *tokens;
  int found;
  if (size) memcpy(text, bytes, size);
  count = wfa_tokens(text, size, NULL, 0);
  tokens = malloc((count ? count : 1) * sizeof *tokens);
  if (wfa_tokens(text, size, tokens, count) != count) abort();
  for (t = 0; t < count; t++)
    if (tokens[t].first > tokens[t].end || tokens[t].end > size || (t && tokens[t].first < tokens[t - 1].first)) abort();
  found = wfa_predict(text, size, one);
  if (found != wfa_predict_tokens(tokens, count, two) || found >= WFA_CLASSES) abort();
  if (found != WFA_UNKNOWN_WORD && memcmp(one, two, sizeof one)) abort();
  {
    const char *texts[] = {text, text, text};
    const size_t sizes[] = {size, size / 2, size};
    uint32_t three[3 * WFA_CLASSES] = {0};
    int classes[3];
    wfa_predict_texts(texts, sizes, 3, classes, three);
    if (classes[0] != found || classes[2] != found) abort();
    if (found != WFA_UNKNOWN_WORD && memcmp(one, three, sizeof one)) abort();
  }
  if (count <= MOST_EXPLAINED_WORDS) {
    int32_t *work = malloc(WFA_WORK(count) * sizeof *work);
    int64_t *values = malloc((count ? count : 1) * WFA_CLASSES * sizeof *values);
    if (found != WFA_UNKNOWN_WORD && wfa_explain(tokens, count, size % 2 ? WFA_DELETE : WFA_UNKNOWN, work, values)) abort();
    free(work);
    free(values);
  }
  free(tokens);
  free(text);
  return 0;
}
