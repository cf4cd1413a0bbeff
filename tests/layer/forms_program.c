/* A program that is linked without unused sections and stripped. */
int forms_member(void);

int main(void)
{
    return forms_member();
}
