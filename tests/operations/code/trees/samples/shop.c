#include <stdio.h>
#define LIMIT 10
#define MAX(a, b) ((a) > (b) ? (a) : (b))
typedef unsigned long id_t, *id_p;
typedef struct { int x, y; } point;
struct client { char *host; int ports[4]; int (*send)(int); };
enum color { RED, GREEN = 2 };
union any { int i; float f; };
static int counter = 0, *other;
extern int declared(int a);
static inline char *
greet(const char *name)
{
    int local = 1;
    return name;
}
int (*handler)(int);
#ifdef X
void conditional(void) {}
#else
void alternative(void) {}
#endif
