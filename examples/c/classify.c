/* Classifies every line of standard input, with the three words that decided most:

     wfalens export films.wfa -o model.c --bits 8
     cc -O2 -o classify classify.c model.c
     echo "a moving and funny film" | ./classify
*/
#include <stdio.h>
#include <string.h>

#include "model.h"

#define LONGEST 65536
#define MOST_WORDS 4096

static char line[LONGEST];
static wfa_token tokens[MOST_WORDS];
static int32_t work[WFA_WORK(MOST_WORDS)];
static int64_t values[MOST_WORDS * WFA_CLASSES];

/* the words with the largest values for a class */
static void print_reasons(size_t count, size_t class_number) {
  size_t shown, t;
  for (shown = 0; shown < 3 && shown < count; shown++) {
    size_t best = 0;
    int64_t *value;
    for (t = 1; t < count; t++)
      if (values[t * WFA_CLASSES + class_number] > values[best * WFA_CLASSES + class_number]) best = t;
    value = &values[best * WFA_CLASSES + class_number];
    if (*value <= 0) return;
    printf("\t%.*s %+.3f", (int)(tokens[best].end - tokens[best].first), line + tokens[best].first,
           (double)*value / (double)WFA_VALUE_ONE);
    *value = 0;
  }
}

int main(void) {
  while (fgets(line, sizeof line, stdin)) {
    size_t bytes = strcspn(line, "\n"), count = wfa_tokens(line, bytes, tokens, MOST_WORDS);
    uint32_t probabilities[WFA_CLASSES];
    int found = wfa_predict(line, bytes, probabilities);
    if (found < 0) {
      puts("undecided");
      continue;
    }
    printf("%s %.3f", wfa_classes[found], (double)probabilities[found] / WFA_ONE);
    if (count <= MOST_WORDS && wfa_explain(tokens, count, WFA_DELETE, work, values) == 0)
      print_reasons(count, (size_t)found);
    putchar('\n');
  }
  return 0;
}
