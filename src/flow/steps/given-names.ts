// Names that people are given: what begins with one, and ends with another word, is most often a person.

/** The most frequent of English texts, without those that are as often a place. */
export const givenNames: ReadonlySet<string> = new Set(
  `aaron abigail abraham adam adrian agnes aidan alan albert alec alex alexander alexandra alexis alfred alice alison
  allan allen amanda amelia amy ana andre andrea andreas andrew andy angela angus anita ann anna anne annie anthony
  antoine anton antonio antony armando arnold arthur ashley audrey barbara barry beatrice ben benjamin bernard bert
  beth betty bill billy bob bobby brad bradley brandon brenda brent brett brian bridget bruce bryan bryce buster caleb
  calvin cameron carl carla carlo carlos carmen carol carole caroline carolyn carrie casey cate catherine cathy cecil
  charles charlie chloe chris christian christina christine christopher chuck cindy claire clara clarence claude
  clement cliff clifford clint clyde colin colleen connor constance craig curtis cynthia daisy dale dan daniel daniela
  danny darren dave david davina dawn dean debbie deborah debra dennis derek diana diane dick dieter dominic don donald
  donna doris dorothy doug douglas duncan dwight earl ed eddie edgar edith edmund eduardo edward edwin eileen elaine
  eleanor elena elisabeth elizabeth ellen emil emily emma emmanuel enrique eric erica erik ernest ernst ethan eugene eva
  evan evelyn felix ferdinand fernando fiona florence frances francesco francis francisco frank franklin franz fred
  freddie frederick friedrich gabriel gabrielle gareth gary gavin gene geoffrey george gerald gerard gerry gilbert
  giovanni glen glenn gordon grace graham grant greg gregory guy hank hannah hans harold harriet harry harvey hazel heather
  heidi heinrich helen henri henrik henry herbert herman hermann hilary hillary horace howard hugh iain ian ignacio igor ingrid
  irene iris irving isaac isabel isabella ivan jack jackie jacob jacqueline jacques jaime jake james jamie jan jane janet
  janice jason javier jay jean jeff jeffrey jennifer jenny jeremy jerome jerry jesse jessica jill jim jimmy joan joanna
  joanne joe joel johann johanna johannes john johnny jon jonathan jorge jose josef joseph josephine josh joshua joy
  joyce juan judith judy julia julian julie juliet julius justin karen karl kate katherine kathleen kathryn kathy katie
  kay keith kelly ken kenneth kevin kirk klaus kristen kurt kyle larry lars laura lauren laurence lawrence leah lee leo
  leon leonard leslie lewis liam lilian lillian linda lindsay lisa liz logan lois louis louise lucas lucia lucy luis luke
  lydia lyle lynn malcolm marc marcel marcia marco marcus margaret maria marian marianne marie marilyn mario marion mark
  marlene marsha martha martin marvin mary mathew matilda matt matthew maureen maurice max maxwell megan melanie melissa
  melvin meredith michael michel michelle miguel mike mildred miles milton miranda mitchell moira molly monica morgan
  moses murray nancy natalie natasha nathan nathaniel neil nelson nicholas nick nicola nicolas nicole nigel nikolai nina
  nora noah noel norman oliver olivia oscar otto owen pablo pamela patricia patrick paul paula pauline pedro peggy penelope
  penny percy peter phil philip philippa philippe phillip phoebe phyllis pierre priscilla rachel ralph ramon randy raymond
  rebecca reginald rene rex rhoda ricardo richard rick ricky rita rob robert roberto robin rod roderick rodney roger roland
  ron ronald rory rosa rosemary ross roy rudolf rudolph rufus rupert russell ruth ryan sally sam samantha samuel sandra sara
  sarah saul scott sean sebastian sergei seth shane shannon sharon shaun shawn sheila shirley sidney sigmund silvia simon
  sofia sonia sophia sophie spencer stanley stefan stella stephanie stephen steve steven stewart stuart sue susan susanna
  suzanne sylvia tammy ted terence teresa terry theodore theresa thomas tim timothy toby todd tom tommy tony tracy trent
  trevor trey tyler ulrich ursula valerie vanessa vera vernon veronica victor vince vincent viola violet virgil
  vivian vladimir wallace walter wanda warren wayne wendy werner wilfred wilhelm will william willie wolfgang woody
  yvonne zachary zoe`.split(/\s+/),
)
