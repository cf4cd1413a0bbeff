// The control of the transformer, in both directions: a collector takes words from one side until it has `unit` of them, a
// shifter takes each unit and makes `unit_steps` steps on it, handing a part on after every `part_steps` of them, and a
// giver gives each part away as `part_words` words. All three work at once.
//
//             collector       shifter            giver
// forward     A, a chunk      B to C, K tiles    D, a tile each
// backward    D, a tile       C to B             A, a chunk after K tiles
//
// The numbers must not change while something is inside.
module pipeline (
    input  wire        clock,
    input  wire        reset,
    input  wire [31:0] unit,
    input  wire [31:0] unit_steps,
    input  wire [31:0] part_steps,
    input  wire [31:0] part_words,
    input  wire        in_valid,
    input  wire        in_last,    // the unit ends here, full or not
    output wire        in_ready,
    output wire        out_valid,
    input  wire        out_ready,
    // What the buffers do at the next edge.
    output wire        enters,     // the collector stores a word,
    output wire [31:0] place,      // here;
    output wire        loads,      // the shifter takes the collector's unit;
    output wire        steps,      // it makes a step;
    output wire        hands_on,   // the giver takes the shifter's part;
    output wire        leaves      // it gives a word
);
    reg [31:0] collected, steps_left, steps_done, words_left;
    reg        part_full;

    wire giver_free   = words_left == 0 || (words_left == 1 && leaves);
    wire shifter_free = steps_left == 0 || (steps_left == 1 && steps);
    wire full         = collected == unit;
    wire completes    = steps && steps_done + 1 == part_steps;

    assign leaves    = out_valid && out_ready;
    assign hands_on  = part_full && giver_free;
    assign steps     = steps_left != 0 && (!part_full || hands_on);
    assign loads     = full && shifter_free;
    assign in_ready  = !full || loads;
    assign enters    = in_valid && in_ready;
    assign place     = loads ? 0 : collected;
    assign out_valid = words_left != 0;

    always @(posedge clock)
        if (reset) begin
            collected  <= 0;
            steps_left <= 0;
            steps_done <= 0;
            words_left <= 0;
            part_full  <= 0;
        end else begin
            collected <= !enters ? place : in_last ? unit : place + 1;
            if (loads)
                steps_left <= unit_steps;
            else if (steps)
                steps_left <= steps_left - 1;
            if (steps)
                steps_done <= completes ? 0 : steps_done + 1;
            part_full <= completes || (part_full && !hands_on);
            if (hands_on)
                words_left <= part_words;
            else if (leaves)
                words_left <= words_left - 1;
        end
endmodule
