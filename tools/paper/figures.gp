# Draws the figures from the CSV files in this folder: gnuplot figures.gp
set encoding utf8
set datafile separator ','
set grid
set format '%g'
# Rows of a CSV file whose first columns are `begin`.
rows(file, begin) = sprintf("< grep '^%s,' %s", begin, file)
# Commands for `eval`: a figure of panels, a panel, and marks across it.
figure(name, rows, columns) = sprintf("set terminal svg size %d,%d font 'sans,11' background 'white' noenhanced; set output '%s.svg'; set multiplot layout %d,%d", columns * 480, rows * 340, name, rows, columns)
panel(title, x, y) = sprintf("unset arrow; unset label; unset logscale; set autoscale; set title \"%s\"; set xlabel \"%s\"; set ylabel \"%s\"", title, x, y)
across(at, label) = sprintf("set arrow from graph 0, first %.9g to graph 1, first %.9g nohead dashtype 3; set label \"%s\" at graph 0.02, first %.9g offset 0,0.5", at, at, label, at)
upright(at, label) = sprintf("set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dashtype 3; set label \"%s\" at %.9g, graph 0.04 rotate left offset 0.7,0", at, at, label, at)
# Trajectories of all learners over k: long ones on a logarithmic axis, with marks at 10, where all are right, and at K.
trajectories(title, what, k, right) = panel(title, 'iteration k', what) . (k >= 240 ? '; set logscale x; ' : '; ') . (k > 10 ? upright(10, 'K = 10') . '; ' : '') . upright(right, sprintf('all right from %d', right)) . '; ' . upright(k, sprintf('K = %d', k))

%a
array a_graph[6] = [@a_graph@]
array a_k[6] = [@a_k@]
array a_right[6] = [@a_right@]
array a_value[6] = [@a_value@]
eval figure('a_trajectories', 2, 3)
do for [t=1:6] {
	eval trajectories(sprintf('Round %d: %s', t, a_graph[t]), 'coordinate @a_coordinate@ of the model, as decoded', a_k[t], a_right[t])
	plot for [i=3:@a_learners@+2] rows('a_trajectories.csv', a_graph[t]) using 2:i with lines linewidth 0.5 linecolor '#5fa0cc' notitle, \
	  a_value[t] with lines dashtype 2 linecolor 'black' title sprintf('%.4g', a_value[t])
}
unset multiplot

%b
eval figure('b_consensus', 1, 3)
do for [coordinate in '@b_coordinates@'] {
	eval panel('Coordinate ' . coordinate, 'round', 'value')
	plot rows('b_consensus.csv', coordinate) using 2:3 with linespoints title 'consensus', \
	  rows('b_consensus.csv', coordinate) using 2:5 with linespoints title 'difference'
}
unset multiplot

%c
array c_graph[@c_count@] = [@c_graph@]
array c_k[@c_count@] = [@c_k@]
array c_right[@c_count@] = [@c_right@]
array c_value[@c_count@] = [@c_value@]
eval figure('c_trajectories', (@c_count@ + 2) / 3, 3)
do for [t=1:@c_count@] {
	eval trajectories(c_graph[t], 'a coordinate of the model, as decoded', c_k[t], c_right[t])
	plot for [i=3:102] rows('c_trajectories.csv', c_graph[t]) using 2:i with lines linewidth 0.5 linecolor '#5fa0cc' notitle, \
	  c_value[t] with lines dashtype 2 linecolor 'black' title sprintf('%.4g', c_value[t])
}
unset multiplot

array c_line[5] = ['40 neighbours', '20 neighbours', '10 neighbours', 'star', 'line']
eval figure('c_norms', 1, 1)
eval panel('How fast the powers of A approach the mean', 'iteration k', "‖N·Aᵏ − 11'‖")
set logscale xy
eval across(@c_bound@, '1/(2p√N): K is reached below')
eval upright(10, 'K = 10')
plot [] [1e-09:100] for [i=1:5] rows('c_norms.csv', c_line[i]) using 2:3 with lines title c_line[i]
unset multiplot

eval figure('c_degrees', 1, 1)
eval panel('Iterations that the bound asks for', 'neighbours of each of 100 learners, random graphs', 'K')
eval across(10, 'K = 10')
eval upright(@c_enough@, '@c_enough@ neighbours')
plot [] [0:25] 'c_degrees.csv' every ::1 using 1:3 with lines notitle
unset multiplot

%e
# The curves that were measured, and the paper's slopes.
array e_shares[@e_shares_count@] = [@e_shares@]
array e_iterations[@e_iterations_count@] = [@e_iterations@]
eval figure('e_time', 1, 2)
eval panel('Shares', 'shares of a learner in a round', 'seconds of a learner in a round')
set logscale xy
plot 2.315e-6 * x dashtype 2 linecolor 'black' title 'slope in the paper', \
  for [i=1:|e_shares|] rows('e_time.csv', e_shares[i] . ',shares') using 3:4 with linespoints title e_shares[i]
eval panel('Mixing', 'iterations K', 'seconds of a learner in a round')
set logscale xy
plot 6.155e-6 * x dashtype 2 linecolor 'black' title 'slope in the paper', \
  for [i=1:|e_iterations|] rows('e_time.csv', e_iterations[i] . ',iterations') using 3:4 with linespoints title e_iterations[i]
unset multiplot

%f
eval figure('f_loss', 1, words('@f_hidden@'))
do for [hidden in '@f_hidden@'] {
	eval panel(hidden eq '1' ? '1 hidden unit, n = 2,353, as in the paper' : '32 hidden units, n = 50,992', 'round', 'mean squared error of a pixel, on images held out')
	set logscale y
	array f_curve[4] = ['floats', 'weighted σ = 3', 'paper σ = 2', 'paper σ = 4']
	plot for [i=1:hidden eq '1' ? 3 : 4] rows('f_loss.csv', hidden . ',' . f_curve[i]) using 3:4 with linespoints title f_curve[i]
}
unset multiplot

%h
array h_curve[4] = [@h_curve@]
array h_x[4] = [@h_x@]
array h_y[4] = [@h_y@]
array h_factor[4] = [@h_factor@]
array h_power[4] = [@h_power@]
eval figure('h_growth', 2, 2)
do for [i=1:4] {
	eval panel(h_curve[i], h_x[i], h_y[i])
	set logscale xy
	plot rows('h_growth.csv', h_curve[i]) using 3:4 with points pointtype 7 notitle, \
	  h_factor[i] * x ** h_power[i] title sprintf('power %.3f', h_power[i])
}
unset multiplot
