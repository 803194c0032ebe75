export const View = ({ name }) => {
  const click = () => {};
  return <div onClick={click}>it's {name}</div>;
};
